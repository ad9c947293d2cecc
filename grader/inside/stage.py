"""The stage: keeps one submission and plays scenes with it, each in a process of its own.

Talks frames over standard input and output. The first says what to keep:

    {"op": "open", "source": …, "modules": {name: source}, "scenes": source, "limits": {…}}

and then, as often as is asked, {"op": "load"} and {"op": "play", "scene", "given", "wall_s"}. Each is
answered with one frame: what the player gave (see `player`), and what was printed. This process never
compiles or imports the submission; the process that does has no way back into this one.

The process of a scene is a fork of this one. Where the system can't fork, it is an interpreter that is
started for it: see `spawn`, whose `Player` takes the part of `Fork` there.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from grader import wire
from grader.errors import WireError
from grader.inside import player, system
from grader.inside.keep import take_in
from grader.inside.outcome import FRAME_SLACK, PRINTED_KEPT, Seen, answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.inside.console import Console
    from grader.inside.keep import Keep
    from grader.records import Limits


class Fork:
    """A fork of this process that waits for a job. Nothing of the submission has run in it.

    It is made while the grader thinks about the answer before: so it is often up by the time it is needed,
    and never stands beside a process in which a submission has run.

    Args:
        keep: what the stage holds.
        console: what it prints to, made ready.
    """

    def __init__(self, keep: Keep, console: Console) -> None:
        self._limits = keep.limits
        job_out, self._job_in = os.pipe()
        self._frame_out, frame_in = os.pipe()
        self._printed_out, printed_in = os.pipe()
        self._kills = system.out_of_memory_kills()
        self._child = os.fork()
        if self._child == 0:
            _be_the_player(keep, console, (job_out, printed_in, frame_in))
        for theirs in (job_out, frame_in, printed_in):
            os.close(theirs)

    def play(self, job: dict[str, Any], channel: int) -> dict[str, Any]:
        """Have it do a job, end it and all that came from it, and say what came of the job.

        Args:
            job: {"op": "load"} or {"op": "play", …}, with "wall_s", seconds on the clock.
            channel: the descriptor that frames come from; if it closes, everything is ended.
        """
        rest = memoryview(wire.encode(job))
        with contextlib.suppress(BrokenPipeError):  # it is gone, which shows in its status
            while rest:
                rest = rest[os.write(self._job_in, rest) :]
        pipes = (self._frame_out, self._printed_out)
        seen = _watch(self._child, *pipes, channel, job["wall_s"], self._limits)
        seen.out_of_memory = system.out_of_memory_kills() > self._kills
        system.end_everything(self._child)
        for ours in (self._job_in, *pipes):
            os.close(ours)
        if seen.hung_up:
            raise EOFError
        return answer(seen, self._limits, job["wall_s"])


def _be_the_player(keep: Keep, console: Console, pipes: tuple[int, int, int]) -> None:
    """The forked process: caged, cut off from the stage's channel, and gone when it has answered."""
    try:
        os.setsid()
        job, printed, frame = pipes
        os.dup2(job, 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        os.dup2(frame, player.ANSWER_FD)
        player.play_one(keep, console)
    finally:
        player.leave(0)  # also where the stage has gone, and there is no job


def _serve(
    keep: Keep, receive: Callable[[], Any], send: Callable[[Any], None], channel: int, opened: Any
) -> None:
    """Answer jobs, each in a fork that was made ahead, until the grader goes away."""
    console = player.prepare(keep)
    # The submission compiled, once, in a fork, as bytes that only other forks make code of. Nothing of it
    # runs meanwhile, so this is Python's own work. Why it can't be compiled, the first job will tell.
    made = Fork(keep, console).play(player.COMPILE, channel)
    keep.code = base64.b64decode(made.get("code", ""))
    gc.freeze()  # a fork that collects garbage would copy every page of ours
    fork = Fork(keep, console)
    send(opened)
    while True:
        send(fork.play(receive(), channel))
        fork = Fork(keep, console)


def _watch(
    child: int, frame_fd: int, printed_fd: int, channel: int, wall_s: float, limits: Limits
) -> Seen:
    """Gather what comes out of the process `child` until it is gone or its time is up."""
    seen = Seen()
    deadline = time.monotonic() + wall_s
    poll = select.poll()
    for fd in (frame_fd, printed_fd):
        os.set_blocking(fd, False)
        poll.register(fd, select.POLLIN)
    poll.register(channel, select.POLLHUP)
    exit_fd = _exit_fd(child)
    if exit_fd is not None:
        poll.register(exit_fd, select.POLLIN)
    keep = {
        frame_fd: (seen.frame, limits.frame_bytes + FRAME_SLACK),
        printed_fd: (seen.printed, PRINTED_KEPT),
    }
    while seen.status is None:
        left = deadline - time.monotonic()
        if left <= 0:
            seen.timed_out = True
            break
        for fd, _ in poll.poll(1000 * (left if exit_fd is not None else min(left, 0.01))):
            if fd == channel:
                seen.hung_up = True
                return seen
            if fd in keep and not _drain(fd, *keep[fd]):
                poll.unregister(fd)
        seen.status, seen.cpu_s = _gone(child)
    for fd, (into, limit) in keep.items():
        _drain(fd, into, limit)
    if exit_fd is not None:
        os.close(exit_fd)
    return seen


def _exit_fd(child: int) -> int | None:
    try:
        return os.pidfd_open(child)
    except (AttributeError, OSError):
        return None  # not Linux, or an old kernel: asked every 10 ms instead


def _gone(child: int) -> tuple[int | None, float]:
    pid, status, usage = os.wait4(child, os.WNOHANG)
    if not pid:
        return None, 0.0
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def _drain(fd: int, into: bytearray, limit: int) -> bool:
    """Read what there is, keep `limit` bytes, throw the rest away. False at the end of the stream."""
    for _ in range(64):  # so that a flood can't keep this loop from looking at the clock
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            return True
        if not data:
            return False
        into += data[: max(0, limit - len(into))]
    return True


def main() -> None:
    """Serve frames from standard input until it ends."""
    system.harden_stage()
    channel, reply = os.dup(0), os.dup(1)
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def read(count: int) -> bytes:
        return os.read(channel, min(count, 1 << 16))

    def send(value: Any) -> None:
        rest = memoryview(wire.encode(value))
        while rest:
            rest = rest[os.write(reply, rest) :]

    opened = {"op": "opened", "python": ".".join(map(str, sys.version_info[:3]))}
    # An input that ends, be it inside a frame, is the grader's going away: no fault, and status 0.
    with contextlib.suppress(EOFError, BrokenPipeError, WireError):
        if not system.can_fork():
            from grader.inside import spawn  # noqa: PLC0415 - start-up time counts where it can

            spawn.serve(read, send, opened)
        keep = take_in(wire.read_frame(read, wire.MAX_TRUSTED_FRAME))
        keep.processes = system.processes_allowed(keep.limits.processes)
        _serve(keep, lambda: wire.read_frame(read, wire.MAX_TRUSTED_FRAME), send, channel, opened)
    system.end_everything(None)
    player.leave(0)  # there is nothing to tidy up
