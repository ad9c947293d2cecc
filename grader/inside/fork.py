"""A process of the stage's in which a submission is played: made ahead, watched, and ended with all it made."""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING, Any

from grader import wire
from grader.inside import player, system
from grader.inside.outcome import FRAME_SLACK, PRINTED_KEPT, Seen, answer, whole_frame

if TYPE_CHECKING:
    from grader.inside.console import Console
    from grader.inside.keep import Keep


class Fork:
    """A fork of this process that waits for jobs. Until it has one, nothing of the submission has run in it.

    It is made while the grader thinks about the answer before: so it is often up by the time it is needed,
    and never stands beside a process in which a submission has run.

    Args:
        keep: what the stage holds.
        console: what it prints to, made ready.
    """

    def __init__(self, keep: Keep, console: Console) -> None:
        self.fresh = True  # it has done nothing
        self.over = False
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
        self._exit_fds = _exit_fds(self._child)
        for ours in (self._job_in, self._frame_out, self._printed_out):
            os.set_blocking(ours, False)

    def play(self, job: dict[str, Any], channel: int) -> dict[str, Any]:
        """Have it do a job, and say what came of it. Unless it stays for another, all is ended that came of it.

        Args:
            job: {"op": "load"} or {"op": "play", …}, with "wall_s", seconds on the clock, and "stay".
            channel: the descriptor that frames come from; if it closes, everything is ended.

        Raises:
            EOFError: it has closed.
        """
        seen = Seen(alone=self.fresh)
        self.fresh = False
        self._watch(seen, wire.encode(job), channel, job["wall_s"], stay=job.get("stay", False))
        if not seen.stays:
            self._end(seen)
        given = answer(seen, self._limits, job["wall_s"])
        if not (given["stays"] or self.over):
            self._end(seen)
        return given

    def finish(self, wall_s: float, channel: int) -> bool:
        """End it. Whether it left by itself, and had written nothing that it was not asked for.

        Raises:
            EOFError: the grader has gone.
        """
        seen = Seen()
        self._hang_up()
        self._watch(seen, b"", channel, wall_s)
        self._end(seen)
        return seen.status == 0 and not seen.frame

    def end(self) -> None:
        """End it, whatever it is doing."""
        self._end(Seen())

    def _hang_up(self) -> None:
        """There are no more jobs for it."""
        if self._job_in >= 0:
            os.close(self._job_in)
            self._job_in = -1

    def _end(self, seen: Seen) -> None:
        self.over = True
        seen.out_of_memory = system.out_of_memory_kills() > self._kills
        system.end_everything(self._child)
        for ours in (self._frame_out, self._printed_out, *self._exit_fds):
            os.close(ours)
        self._hang_up()
        if seen.hung_up:
            raise EOFError

    def _watch(
        self, seen: Seen, sent: bytes, channel: int, wall_s: float, *, stay: bool = False
    ) -> None:
        """Send it `sent` and hear it out: until it is gone, has answered and may stay, or has no time left."""
        deadline = time.monotonic() + wall_s
        rest = self._send(memoryview(sent))
        poll = select.poll()
        poll.register(channel, select.POLLHUP)
        for fd in (self._frame_out, self._printed_out, *self._exit_fds):
            poll.register(fd, select.POLLIN)
        if rest:
            poll.register(self._job_in, select.POLLOUT)
        while seen.status is None and not seen.stays:
            left = deadline - time.monotonic()
            seen.timed_out = left <= 0
            if seen.timed_out:
                break
            ready = {
                fd for fd, _ in poll.poll(1000 * (left if self._exit_fds else min(left, 0.01)))
            }
            seen.hung_up = channel in ready
            if seen.hung_up:
                return
            if rest and not (rest := self._send(rest)):
                poll.unregister(self._job_in)
            for fd in self._hear(seen, ready):
                poll.unregister(fd)
                if fd == self._frame_out and not rest:
                    self._hang_up()  # it can't answer any more, and is not to wait for another job
                    stay = False
            seen.stays = stay and whole_frame(seen.frame, self._limits)
            if not seen.stays:
                seen.status, seen.cpu_s = _gone(self._child)
        self._hear(seen, {self._frame_out, self._printed_out})

    def _hear(self, seen: Seen, ready: set[int]) -> list[int]:
        """Take in what there is to be read. Gives what has ended."""
        limit = self._limits.frame_bytes + FRAME_SLACK
        pipes = (
            (self._frame_out, seen.frame, limit),
            (self._printed_out, seen.printed, PRINTED_KEPT),
        )
        return [fd for fd, into, limit in pipes if fd in ready and not _drain(fd, into, limit)]

    def _send(self, rest: memoryview) -> memoryview:
        """What is left of `rest` when as much of it is sent as it takes now."""
        try:
            while rest:
                rest = rest[os.write(self._job_in, rest) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # it is gone, which shows in its status
            rest = rest[:0]
        return rest


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
