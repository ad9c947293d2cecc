"""The stage: keeps one submission and does jobs with it, each in a process of its own.

Talks frames over standard input and output. The first says what to keep:

    {"op": "open", "source": …, "modules": {name: source}, "scenes": source, "limits": {…}}

and then, as often as is asked, {"op": "load"} and {"op": "play", "scene", "given"}, both with "wall_s".
Each is answered with one frame: what the player gave (see `player`), and what was printed. A scene may
bring others that are to be played after it in the same process, in "ahead". This process never compiles
or imports the submission; the process that does has no way back into this one.

The process of a job is a fork of this one. Where the system can't fork, it is an interpreter that is
started for it: see `spawn`, whose `Player` takes the part of `Fork` there.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from grader import wire
from grader.errors import WireError
from grader.inside import player, system
from grader.inside.fork import Fork
from grader.inside.keep import take_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.inside.keep import Keep


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
        # Under no name: the next fork could find in its memory what the last scenes were given.
        send(fork.play(receive(), channel))
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

    def send(value: Any) -> None:
        rest = memoryview(wire.encode(value))
        while rest:
            rest = rest[os.write(reply, rest) :]

    opened = {"op": "opened", "python": ".".join(map(str, sys.version_info[:3]))}
    # An input that ends, be it inside a frame, is the grader's going away: no fault, and status 0.
    try:
        with contextlib.suppress(EOFError, BrokenPipeError, WireError):
            if not system.can_fork():
                from grader.inside import spawn  # noqa: PLC0415 - start-up time counts where it can

                spawn.serve(read, send, opened)
            keep = take_in(wire.read_trusted(read))
            keep.processes = system.processes_allowed(keep.limits.processes)
            _serve(keep, lambda: wire.read_trusted(read), send, channel, opened)
    finally:
        system.end_everything(None)
    player.leave(0)  # there is nothing to tidy up
