"""What passes through the stage between the grader and a player: never decoded, and wiped when it is through.

The next player is a fork of the stage, and could find in its memory whatever has been there: what other
scenes were given, and what a submission has written.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from grader import wire
from grader.carried import Seen, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Bytes = bytes | memoryview

FRAME_SLACK = 64  # bytes kept past the limit of a frame, so that a second one is noticed
PRINTED_KEPT = 1 << 16  # bytes
_PIECE = 1 << 16  # bytes that are read at once


class Buffer:
    """A place for bytes that are read without a copy being made.

    Args:
        size: how many bytes are kept; what comes after them is read and lost.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._view = memoryview(bytearray(size + _PIECE))
        self._filled = 0
        self._touched = 0

    @property
    def content(self) -> memoryview:
        """The bytes that were kept."""
        return self._view[: self._filled]

    def take_in(self, fd: int) -> bool:
        """Read what there is to be read from `fd`. False at the end of the stream."""
        for _ in range(64):  # so that a flood can't keep this loop from looking at the clock
            try:
                count = self._read(fd, self._filled, self._filled + _PIECE)
            except BlockingIOError:
                return True
            if not count:
                return False
            self._filled = min(self._filled + count, self._size)
        return True

    def pass_on(self, source: int, write: Callable[[Bytes], int]) -> None:
        """Read one frame from `source` and have it written, as it is; keep nothing of it.

        Args:
            source: a descriptor.
            write: writes some of the bytes that it is given; says how many. BrokenPipeError: it takes no more.

        Raises:
            EOFError: the source has ended.
        """
        self._pass_on(source, write, wire.HEADER.size)
        (length,) = wire.HEADER.unpack_from(self._view)
        while length:
            length -= self._pass_on(source, write, min(length, _PIECE))
        self.wipe()

    def wipe(self) -> None:
        """Forget what was read."""
        self._view[: self._touched] = bytes(self._touched)
        self._filled = self._touched = 0

    def _read(self, fd: int, start: int, end: int) -> int:
        count = os.readv(fd, [self._view[start:end]])
        self._touched = max(self._touched, start + count)
        return count

    def _pass_on(self, source: int, write: Callable[[Bytes], int], count: int) -> int:
        taken = 0
        while taken < count:
            got = self._read(source, taken, count)
            if not got:
                raise EOFError
            taken += got
        with contextlib.suppress(BrokenPipeError):  # it is gone, which shows in its status
            write_all(write, [self._view[:count]])
        return count


def answer(seen: Seen, frame: Bytes, printed: Bytes) -> list[Bytes]:
    """The three frames with which the stage tells of a job; what the player wrote goes as it is.

    Args:
        seen: how it ended.
        frame: what it wrote where its answer belongs.
        printed: what it printed.
    """
    head = wire.encode(to_json(seen)) + wire.HEADER.pack(len(frame))
    return [head, frame, wire.HEADER.pack(len(printed)), printed]


def write_all(write: Callable[[Bytes], int], parts: Sequence[Bytes]) -> None:
    """Write each of `parts`, whole."""
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[write(rest) :]
