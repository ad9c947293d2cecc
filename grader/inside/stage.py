"""The stage: keeps one submission and does jobs with it, each in a process of its own.

Talks frames over standard input and output. The first says what to keep:

    {"op": "open", "source": …, "modules": {name: source}, "scenes": source, "limits": {…}}

and then, as often as is asked, two frames: {"wall_s"} and a job, which is {"op": "load"} or {"op": "play",
"scene", "given"}. A scene may bring others that are to be played after it in the same process, in "ahead".
Three frames come back: a `Seen`, what the player wrote (see `player`), and what was printed. Job and answer
pass through this process as they are. It never compiles or imports the submission; the process that does
has no way back into this one, and finds nothing in it of what was played before.

The process of a job is a fork of this one. Where the system can't fork, it is an interpreter that is
started for it: see `spawn`, whose `Player` takes the part of `Fork` there.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from grader import wire
from grader.errors import WireError
from grader.inside import player, system
from grader.inside.fork import Fork
from grader.inside.keep import take_in
from grader.inside.transit import FRAME_SLACK, PRINTED_KEPT, Buffer, answer, write_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.inside.keep import Keep
    from grader.inside.transit import Bytes


def _serve(
    keep: Keep,
    channel: int,
    read: Callable[[int], bytes],
    write: Callable[[Bytes], int],
    opened: Any,
) -> None:
    """Answer jobs, each in a fork that was made ahead, until the grader goes away."""
    console = player.prepare(keep)
    frame, printed = Buffer(keep.limits.frame_bytes + FRAME_SLACK), Buffer(PRINTED_KEPT)

    def answer_one(fork: Fork) -> None:  # whose names are gone when the next fork is made
        wall_s = wire.read_trusted(read)["wall_s"]
        seen = fork.play(partial(frame.pass_on, channel), wall_s, channel, frame, printed)
        write_all(write, answer(seen, frame.content, printed.content))
        frame.wipe()
        printed.wipe()

    # The submission compiled, once, in a fork, as bytes that only other forks make code of. Nothing of it
    # runs meanwhile, so this is Python's own work. Why it can't be compiled, the first job will tell.
    job = wire.encode(player.COMPILE)
    compiler = Fork(keep, console)
    compiler.play(lambda give: write_all(give, [job]), player.COMPILE_S, channel, frame, printed)
    keep.code = player.code_in(bytes(frame.content))
    frame.wipe()
    printed.wipe()  # Python may have warned
    gc.freeze()  # a fork that collects garbage would copy every page of ours
    fork = Fork(keep, console)
    write_all(write, [wire.encode(opened)])
    while True:
        answer_one(fork)
        fork = Fork(keep, console)


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

    def write(data: Bytes) -> int:
        return os.write(reply, data)

    opened = {"op": "opened", "python": ".".join(map(str, sys.version_info[:3]))}
    # An input that ends, be it inside a frame, is the grader's going away: no fault, and status 0.
    try:
        with contextlib.suppress(EOFError, BrokenPipeError, WireError):
            if not system.can_fork():
                from grader.inside import spawn  # noqa: PLC0415 - start-up time counts where it can

                spawn.serve(read, write, opened)
            keep = take_in(wire.read_trusted(read))
            keep.processes = system.processes_allowed(keep.limits.processes)
            _serve(keep, channel, read, write, opened)
    finally:
        system.end_everything(None)
    player.leave(0)  # there is nothing to tidy up
