"""Scenes where the system can't fork: each is played in an interpreter that is started for it.

It is started as soon as the scene before is over: so it is often up by the time it is needed, and never
runs beside a submission. What it is told and what it gives goes through its standard
streams, which every system can hand on: standard input brings the job, standard output takes what is
printed, standard error the answer (see `player.main`).

Some of these systems can't wait for a pipe and a clock at once. So each pipe has a thread that reads it.
"""

from __future__ import annotations

import base64
import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from grader import program, wire
from grader.carried import SceneFault, Seen, to_json
from grader.errors import WireError
from grader.inside import system
from grader.inside.keep import take_in
from grader.inside.player import COMPILE, COMPILE_S, READY, code_in
from grader.inside.transit import FRAME_SLACK, PRINTED_KEPT, answer, write_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, NoReturn

    from grader.carried import Limits
    from grader.inside.transit import Bytes

_FIRST_START_S = 20.0  # how long an interpreter may take to be ready: the first one, …
_START_S = 4.0  # … and the others, within what the grader grants the stage beyond a scene's limit
_GLANCE_S = 0.05  # how often it is asked whether a process is gone whose pipes somebody still holds
_LAST_WORDS_S = 0.5  # how long pipes are read that have not ended when their process has

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_FOLDERS = [_PACKAGE, os.path.dirname(_PACKAGE)]


class Line:
    """What the grader sends, read ahead: so that its going away is noticed while a scene is played.

    Args:
        read: gives so many bytes at most, and b"" at the end of the stream.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._frames: queue.Queue[Any] = queue.Queue()
        self.gone = threading.Event()
        threading.Thread(target=self._read_on, daemon=True).start()

    def receive(self) -> Any:
        """The next frame.

        Raises:
            EOFError, WireError: there is none; the grader has gone.
        """
        frame = self._frames.get()
        if isinstance(frame, Exception):
            raise frame
        return frame

    def _read_on(self) -> None:
        try:
            while True:
                self._frames.put(wire.read_trusted(self._read))
        except (EOFError, WireError) as exc:
            self._frames.put(exc)
        except OSError as exc:
            self._frames.put(EOFError(str(exc)))
        self.gone.set()


class Player:
    """An interpreter that does one job, and is then thrown away.

    Args:
        first: the frame with what it is to hold; see `player.main`.
        limits: how much of what it writes is kept.

    Raises:
        OSError: the system starts no more processes.
    """

    def __init__(self, first: bytes, limits: Limits) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *program.words("player", _FOLDERS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self.frame, self.printed = bytearray(), bytearray()
        self._ready = False
        self._heard = threading.Event()  # it is ready, or never will be
        self._answer = threading.Thread(
            target=self._read_answer, args=(first, limits.frame_bytes + FRAME_SLACK), daemon=True
        )
        self._printed = threading.Thread(target=self._read_printed, daemon=True)
        self._answer.start()
        self._printed.start()

    def ready(self, patience_s: float) -> bool:
        """Whether it waits for its job; waits so many seconds for that to be known."""
        self._heard.wait(patience_s)
        return self._ready

    def last_words(self) -> str:
        """Why it never got ready: the last line of what it wrote."""
        told = (bytes(self.printed) + bytes(self.frame)).decode("utf-8", "replace")
        return told.strip().rpartition("\n")[2] or "it ended, or was not ready in time"

    def play(self, job: dict[str, Any], wall_s: float, gone: threading.Event) -> Seen:
        """Have it do its job, end it and all that came from it, and say how that ended.

        Args:
            job: see `inside.player`.
            wall_s: seconds on the clock that it has.
            gone: set when the grader has gone; then nobody waits for what comes of this.

        Raises:
            EOFError: it has gone.
        """
        deadline = time.monotonic() + wall_s
        spent_s = system.spent_by_children_s()
        self._send(wire.encode(job))
        timed_out = False
        while (status := self._process.poll()) is None:
            left = deadline - time.monotonic()
            timed_out = left <= 0
            if timed_out or gone.is_set():
                break
            self._answer.join(min(left, _GLANCE_S))
            if not self._answer.is_alive():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(min(left, _GLANCE_S))
        seen = Seen(status, system.spent_by_children_s() - spent_s, timed_out)
        self.end()
        if gone.is_set():
            raise EOFError
        return seen

    def end(self) -> None:
        """End it and all that came from it, and hear what is left to be heard."""
        self._process.kill()
        self._process.wait()
        system.end_everything(self._process.pid)
        with contextlib.suppress(OSError):
            _stream(self._process.stdin).close()
        for thread in (self._answer, self._printed):
            thread.join(_LAST_WORDS_S)

    def _send(self, frame: bytes) -> None:
        rest = memoryview(frame)
        with contextlib.suppress(OSError, ValueError):  # it is gone, which shows in other ways
            while rest:
                rest = rest[_stream(self._process.stdin).write(rest) :]

    def _read_answer(self, first: bytes, limit: int) -> None:
        self._send(first)
        with _stream(self._process.stderr) as stream, contextlib.suppress(OSError):
            mark = stream.read(len(READY))
            self._ready = mark == READY
            self._heard.set()
            if not self._ready:
                self.frame += mark
            _gather(stream, self.frame, limit)
        self._heard.set()

    def _read_printed(self) -> None:
        with _stream(self._process.stdout) as stream, contextlib.suppress(OSError):
            _gather(stream, self.printed, PRINTED_KEPT)


def serve(read: Callable[[int], bytes], write: Callable[[Bytes], int], opened: Any) -> NoReturn:
    """Be the stage on a system that can't fork, until the grader goes away.

    Args:
        read: gives so many bytes at most of what the grader sends.
        write: writes to it some of the bytes that it is given; says how many.
        opened: the answer to its first one.

    Raises:
        EOFError, WireError: the grader has gone.
        OSError: interpreters can't be started here at all.
    """
    os.environ.pop("LAB_CHECK_SPAWN", None)  # no submission is to see how it is played
    line = Line(read)
    first = line.receive()
    keep = take_in(first)  # a lesson that is broken is found out here, not by each player
    first |= {"processes": system.processes_allowed(keep.limits.processes), "code": ""}
    player = Player(wire.encode(first), keep.limits)
    try:
        if not player.ready(_FIRST_START_S):
            player.end()
            raise OSError(f"no interpreter starts here: {player.last_words()}")
        _play(player, COMPILE, COMPILE_S, line.gone)
        code = base64.b64encode(code_in(bytes(player.frame))).decode("ascii")
        whole = wire.encode({**first, "code": code})
        player = Player(whole, keep.limits)
        write_all(write, [wire.encode(opened)])
        while True:
            wall_s, job = line.receive()["wall_s"], line.receive()
            seen = _play(player, job, wall_s, line.gone)
            # Copies: whoever holds a pipe longer than its process lived may still be writing.
            write_all(write, answer(seen, bytes(player.frame), bytes(player.printed)))
            player = Player(whole, keep.limits)
    finally:
        player.end()


def _play(player: Player, job: dict[str, Any], wall_s: float, gone: threading.Event) -> Seen:
    if player.ready(_START_S):
        return player.play(job, wall_s, gone)
    player.end()
    why = SceneFault("scene", f"no interpreter starts: {player.last_words()}")
    player.frame[:] = wire.encode({"fault": to_json(why)})
    return Seen(status=0)


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _gather(stream: IO[bytes], into: bytearray, limit: int) -> None:
    """Read to the end, keep `limit` bytes, throw the rest away."""
    while data := stream.read(1 << 16):
        into += data[: max(0, limit - len(into))]
