"""What a submission prints: kept for the scene, passed on to the stage, bounded both ways."""

from __future__ import annotations

import io
import os
import sys

_NAMES = ("stdout", "stderr")


class Console(io.RawIOBase):
    """Stands in for standard output and error, from before the submission is imported until the end.

    It is never swapped, so a submission that kept a reference to `sys.stdout` is heard like any other.

    Args:
        fd: where everything is passed on to, so that what was printed before a crash is known.
        limit: how many bytes are kept here between two questions.
    """

    def __init__(self, fd: int, limit: int) -> None:
        super().__init__()
        self._fd = fd
        self._limit = limit
        self._kept = bytearray()
        self._streams: list[io.TextIOWrapper] = []

    def install(self) -> None:
        """Put this console in the place of sys.stdout and sys.stderr."""
        for name in _NAMES:
            stream = io.TextIOWrapper(
                io.BufferedWriter(self),  # type: ignore[type-var] # a RawIOBase, as it asks for
                encoding="utf-8",
                errors="backslashreplace",
                newline="\n",
                line_buffering=True,
            )
            self._streams.append(stream)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)

    def in_place(self) -> bool:
        """Whether what is printed still comes here."""
        try:
            return all(
                getattr(sys, name) is stream and not stream.closed
                for name, stream in zip(_NAMES, self._streams, strict=True)
            )
        except (AttributeError, ValueError):  # gone, or taken apart
            return False

    def since_last(self) -> str:
        """What was written since this was last asked, decoded; bytes past the limit are lost."""
        self.flush_streams()
        text = self._kept.decode("utf-8", "backslashreplace")
        self._kept.clear()
        return text

    def flush_streams(self) -> None:
        """Empty the buffers; a stream that the submission closed or broke is let be."""
        for stream in self._streams:
            try:
                stream.flush()
            except Exception:  # noqa: S112 - it may be anything: the submission's own code may be in there
                continue

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        """Keep what fits, pass everything on."""
        view = bytes(data)
        room = self._limit - len(self._kept)
        if room > 0:
            self._kept += view[:room]
        rest = memoryview(view)
        while rest:
            try:
                rest = rest[os.write(self._fd, rest) :]
            except OSError:
                break  # the submission closed it
        return len(view)
