"""A process of the stage's in which a submission is played: made ahead, watched, and ended with all it made."""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING

from grader.carried import Seen
from grader.inside import player, system

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.inside.console import Console
    from grader.inside.keep import Keep
    from grader.inside.transit import Buffer, Bytes


class Fork:
    """A fork of this process that waits for its job. Nothing of the submission has run in it.

    It is made while the grader thinks about the answer before: so it is often up by the time it is needed,
    and never stands beside a process in which a submission has run.

    Args:
        keep: what the stage holds.
        console: what it prints to, made ready.
    """

    def __init__(self, keep: Keep, console: Console) -> None:
        job_out, self._job_in = os.pipe()
        self._frame_out, frame_in = os.pipe()
        self._printed_out, printed_in = os.pipe()
        self._kills = system.out_of_memory_kills()
        self._child = os.fork()
        if self._child == 0:
            _be_the_player(keep, console, (job_out, printed_in, frame_in))
        for theirs in (job_out, frame_in, printed_in):
            os.close(theirs)
        for ours in (self._job_in, self._frame_out, self._printed_out):
            os.set_blocking(ours, False)
        self._deadline = 0.0

    def play(
        self,
        give: Callable[[Callable[[Bytes], int]], None],
        wall_s: float,
        channel: int,
        frame: Buffer,
        printed: Buffer,
    ) -> Seen:
        """Have it do a job, end it and all that came from it, and say how that ended.

        Args:
            give: has the job written by the function that it is given.
            wall_s: seconds on the clock that it has.
            channel: the descriptor that frames come from; if it closes, everything is ended.
            frame: takes what it writes where its answer belongs.
            printed: takes what it prints.

        Raises:
            EOFError: the channel has closed.
        """
        self._deadline = time.monotonic() + wall_s
        try:
            give(self._write)
            seen = self._watch(channel, {self._frame_out: frame, self._printed_out: printed})
            out_of_memory = system.out_of_memory_kills() > self._kills
        finally:
            system.end_everything(self._child)
            for ours in (self._job_in, self._frame_out, self._printed_out):
                os.close(ours)
        return seen._replace(out_of_memory=out_of_memory)

    def _write(self, data: Bytes) -> int:
        """Write some of a job. A process that is gone, or does not take it in time, takes no more."""
        while True:
            try:
                return os.write(self._job_in, data)
            except BlockingIOError:
                poll = select.poll()
                poll.register(self._job_in, select.POLLOUT)
                if not poll.poll(1000 * max(0.0, self._deadline - time.monotonic())):
                    raise BrokenPipeError from None

    def _watch(self, channel: int, into: dict[int, Buffer]) -> Seen:
        """Gather what comes out of the process until it is gone or its time is up."""
        exit_fds = _exit_fds(self._child)
        poll = select.poll()
        poll.register(channel, select.POLLHUP)
        for fd in (*into, *exit_fds):
            poll.register(fd, select.POLLIN)
        seen = Seen()
        while seen.status is None and not seen.timed_out:
            left = max(0.0, self._deadline - time.monotonic())
            ready = poll.poll(1000 * (left if exit_fds else min(left, 0.01)))
            for fd in [fd for fd, _ in ready if fd in into]:
                if not into[fd].take_in(fd):
                    poll.unregister(fd)
            if any(fd == channel for fd, _ in ready):
                raise EOFError
            seen = _gone(self._child)
            if seen.status is None:
                seen = seen._replace(timed_out=time.monotonic() >= self._deadline)
        for fd, buffer in into.items():
            buffer.take_in(fd)
        for fd in exit_fds:
            os.close(fd)
        return seen


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


def _gone(child: int) -> Seen:
    pid, status, usage = os.wait4(child, os.WNOHANG)
    if not pid:
        return Seen()
    return Seen(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)
