"""A process of the stage's in which a submission is played: made ahead, watched, and ended with all it made."""

from __future__ import annotations

import contextlib
import os
import select
import time
from typing import TYPE_CHECKING, Any

from grader import wire
from grader.inside import player, system
from grader.inside.outcome import FRAME_SLACK, PRINTED_KEPT, Seen, answer

if TYPE_CHECKING:
    from grader.inside.console import Console
    from grader.inside.keep import Keep


class Fork:
    """A fork of this process that waits for its job. Nothing of the submission has run in it.

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
        for out in (self._frame_out, self._printed_out):
            os.set_blocking(out, False)

    def play(self, job: dict[str, Any], channel: int) -> dict[str, Any]:
        """Have it do a job, end it and all that came from it, and say what came of the job.

        Args:
            job: {"op": "load"} or {"op": "play", …}, with "wall_s", seconds on the clock.
            channel: the descriptor that frames come from; if it closes, everything is ended.

        Raises:
            EOFError: it has closed.
        """
        deadline = time.monotonic() + job["wall_s"]
        rest = memoryview(wire.encode(job))
        with contextlib.suppress(BrokenPipeError):  # it is gone, which shows in its status
            while rest:
                rest = rest[os.write(self._job_in, rest) :]
        seen = Seen()
        self._watch(seen, channel, deadline)
        seen.out_of_memory = system.out_of_memory_kills() > self._kills
        system.end_everything(self._child)
        for ours in (self._job_in, self._frame_out, self._printed_out):
            os.close(ours)
        if seen.hung_up:
            raise EOFError
        return answer(seen, self._limits, job["wall_s"])

    def _watch(self, seen: Seen, channel: int, deadline: float) -> None:
        """Gather what comes out of the process until it is gone or its time is up."""
        keep = {
            self._frame_out: (seen.frame, self._limits.frame_bytes + FRAME_SLACK),
            self._printed_out: (seen.printed, PRINTED_KEPT),
        }
        exit_fds = _exit_fds(self._child)
        poll = select.poll()
        poll.register(channel, select.POLLHUP)
        for fd in (*keep, *exit_fds):
            poll.register(fd, select.POLLIN)
        while seen.status is None and not (seen.timed_out or seen.hung_up):
            left = max(0.0, deadline - time.monotonic())
            ready = poll.poll(1000 * (left if exit_fds else min(left, 0.01)))
            for fd in [fd for fd, _ in ready if fd in keep]:
                if not _drain(fd, *keep[fd]):
                    poll.unregister(fd)
            seen.hung_up = any(fd == channel for fd, _ in ready)
            seen.status, seen.cpu_s = _gone(self._child)
            seen.timed_out = seen.status is None and time.monotonic() >= deadline
        for fd, (into, limit) in keep.items():
            _drain(fd, into, limit)
        for fd in exit_fds:
            os.close(fd)


def _be_the_player(keep: Keep, console: Console, pipes: tuple[int, int, int]) -> None:
    """The forked process: caged, cut off from the stage's channel, and gone when it has answered."""
    try:
        os.setsid()
        job, printed, frame = pipes
        os.dup2(job, 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        os.dup2(frame, player.ANSWER_FD)
        player.play(keep, console)
    finally:
        player.leave(0)  # also where the stage has gone, and there is no job


def _exit_fds(child: int) -> list[int]:
    try:
        return [os.pidfd_open(child)]
    except (AttributeError, OSError):
        return []  # not Linux, or an old kernel: asked every 10 ms instead


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
