"""Rooms that are plain processes: no engine needed. For checking one's own work.

What a process keeps apart is memory and crashes, not files: in such a room a submission can read what
its user can read. Strangers' submissions belong into containers.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from grader import program, wire
from grader.errors import RoomError, WireError

_PACKAGE = Path(__file__).resolve().parent.parent
_GONE_S = 0.5  # how long a room may take to leave when its input ends
_STDERR_KEPT = 4 << 10


class ProcessRoom:
    """A room in a child process.

    Args:
        module: of `grader.inside`, whose main() runs in it.
        folders: that go on its path, before the standard library.
        keep_path: whether they stay there once the room's own modules are imported.
        trusted: whether it is only ours that runs in it.
        scratch: the folder that it may write to; goes when the room is closed.
    """

    def __init__(
        self,
        module: str,
        folders: list[str],
        *,
        keep_path: bool,
        trusted: bool,
        scratch: str | None = None,
    ) -> None:
        self._name = module
        self._scratch = scratch
        self._trusted = trusted
        self._frames: queue.Queue[bytes | EOFError | WireError] = queue.Queue(maxsize=4)
        try:
            self._process = subprocess.Popen(
                [sys.executable, *program.words(module, folders, keep_path=keep_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=Path(sys.executable).anchor,  # nothing to find there, nothing to write
                env=_environment(scratch),
                start_new_session=True,  # so that Ctrl-C reaches the grader, which then ends its rooms
            )
        except OSError as exc:
            raise RoomError(f"The {module} can't be started: {exc}.", reason="open") from exc
        self._stderr = bytearray()
        limit = wire.MAX_TRUSTED_FRAME if trusted else 2 * wire.MAX_FRAME
        self._reader = threading.Thread(target=self._read_frames, args=[limit], daemon=True)
        self._reader.start()
        threading.Thread(target=self._read_stderr, daemon=True).start()

    def send(self, *values: Any) -> None:
        """Send each value as a frame. See `Room`."""
        assert self._process.stdin is not None
        rest = memoryview(b"".join(map(wire.encode, values)))
        try:
            while rest:
                rest = rest[self._process.stdin.write(rest) or 0 :]
        except (OSError, ValueError) as exc:
            raise self._died() from exc

    def receive(self, timeout_s: float) -> Any:
        """The next frame, decoded. See `Room`."""
        frame = self.receive_bytes(timeout_s)
        return wire.decode_trusted(frame) if self._trusted else wire.decode(frame)

    def receive_bytes(self, timeout_s: float) -> bytes:
        """The next frame's body. See `Room`."""
        try:
            frame = self._frames.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            raise RoomError(
                f"The {self._name} did not answer within {timeout_s:.0f} s.", reason="silent"
            ) from None
        if isinstance(frame, EOFError):
            raise self._died()
        if isinstance(frame, WireError):
            raise frame
        return frame

    def close(self) -> None:
        """End the process and what came from it. See `Room`."""
        self.leave()
        self._reader.join(_GONE_S)  # sees the end at once; waiting for a process looks now and then
        try:
            self._process.wait(_GONE_S)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        if self._scratch is not None:  # a room that was killed has not tidied up
            shutil.rmtree(self._scratch, ignore_errors=True)

    def leave(self) -> None:
        """Ask the room to end, without waiting for it: its input ends."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _kill(self) -> None:
        """A judge's run is a fork of the judge, and would outlive it."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _read_frames(self, limit: int) -> None:
        stream = self._process.stdout
        assert stream is not None
        try:
            while True:
                self._frames.put(wire.read_body(stream.read, limit))
        except (EOFError, WireError) as exc:
            self._frames.put(exc)
        except (OSError, ValueError):
            self._frames.put(EOFError())

    def _read_stderr(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            while data := stream.read(4096):
                self._stderr += data
                del self._stderr[:-_STDERR_KEPT]

    def _died(self) -> RoomError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GONE_S)
        last = self._stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return RoomError(
            f"The {self._name} ended (exit status {self._process.poll()})."
            + (f" Its last words: {last}" if last else ""),
            reason="died",
        )


class ProcessRooms:
    """Opens rooms as child processes of this one."""

    name = "local"
    image: str | None = None

    def __init__(self) -> None:
        self._judge: ProcessRoom | None = None
        self._stage: ProcessRoom | None = None

    def open_ahead(self, *, stage: bool = True) -> None:
        """Open rooms while the program is still getting ready; they are the first that are handed out."""
        if self._judge is None:
            self._judge = _judge()
        if stage and self._stage is None:
            self._stage = _stage()

    def open_stage(self) -> ProcessRoom:
        """A stage, with nothing but the standard library, `lab` and the lesson's modules to import."""
        room, self._stage = self._stage, None
        return room or _stage()

    def open_judge(self) -> ProcessRoom:
        """A judge, which finds pytest where this process finds it."""
        room, self._judge = self._judge, None
        return room or _judge()

    def close(self) -> None:
        """End what was opened ahead and not wanted; every other room is ended by itself. See `Rooms`."""
        for room in (self._judge, self._stage):
            if room is not None:
                room.close()
        self._judge = self._stage = None


def _stage() -> ProcessRoom:
    return ProcessRoom(
        "stage",
        [str(_PACKAGE), str(_PACKAGE.parent)],
        keep_path=False,
        trusted=False,
    )


def _judge() -> ProcessRoom:
    here = [folder for folder in sys.path if folder and Path(folder).is_dir()]
    return ProcessRoom(
        "judge",
        [str(_PACKAGE), str(_PACKAGE.parent), *here],
        keep_path=True,
        trusted=True,
        scratch=tempfile.mkdtemp(prefix="lab_check-"),
    )


def _environment(scratch: str | None) -> dict[str, str]:
    """As little as an interpreter needs; nothing by which to learn where or why it runs."""
    kept = ["PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMPDIR"]
    kept += ["LAB_CHECK_SPAWN"]  # which the stage takes out again
    found = {name: os.environ[name] for name in kept if name in os.environ}
    return found if scratch is None else {**found, "TEMP": scratch, "TMPDIR": scratch}
