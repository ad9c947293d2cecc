"""The stage: keeps one submission and plays scenes with it, each in a process of its own.

Talks frames over standard input and output. The first says what to keep:

    {"op": "open", "source": …, "modules": {name: source}, "scenes": source, "limits": {…}}

and then, as often as is asked, {"op": "load"} and {"op": "play", "scene", "given", "wall_s"}. Each is
answered with one frame: what the player gave (see `player`), and what was printed. This process never
compiles or imports the submission; the process that does has no way back into this one.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
import types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader import wire
from grader.errors import WireError
from grader.inside import player, system
from grader.inside.console import Console
from grader.records import Limits, SceneFault, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Callable

# The forked process goes on with these when the submission has had its way with `os`.
_exit, _write = os._exit, os.write


@dataclass
class Keep:
    """What the stage holds for one submission."""

    source: str
    scenes: dict[str, Callable[..., Any]]
    limits: Limits
    processes: int | None


@dataclass
class _Play:
    """A job under way: what has come out of its process so far."""

    frame: bytearray = field(default_factory=bytearray)
    printed: bytearray = field(default_factory=bytearray)
    status: int | None = None
    cpu_s: float = 0.0
    timed_out: bool = False
    hung_up: bool = False
    out_of_memory: bool = False


def open_stage(first: dict[str, Any]) -> Keep:
    """Take in the first frame: our own modules and scenes are executed here, once, for every fork."""
    import lab  # noqa: F401, PLC0415 - so that each fork has it already

    for name, source in first["modules"].items():
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(source, f"{name}.py", "exec", dont_inherit=True), module.__dict__)
    scenes: dict[str, Any] = {"__name__": "scenes"}
    exec(compile(first["scenes"], "scenes.py", "exec", dont_inherit=True), scenes)
    limits: Limits = from_json(Limits, first["limits"])
    return Keep(
        first["source"],
        {name: scene for name, scene in scenes.items() if callable(scene)},
        limits,
        None if os.getpid() == 1 else system.count_processes() + limits.processes,
    )


def play(keep: Keep, job: dict[str, Any], channel: int) -> dict[str, Any]:
    """Do one job in a fork of this process and say what came of it.

    Args:
        keep: from `open_stage`.
        job: {"op": "load"} or {"op": "play", …}, with "wall_s", seconds on the clock.
        channel: the descriptor that frames come from; if it closes, everything is ended.
    """
    frame_out, frame_in = os.pipe()
    printed_out, printed_in = os.pipe()
    kills = system.out_of_memory_kills()
    child = os.fork()
    if child == 0:
        _be_the_player(keep, job, frame_in, printed_in)
    os.close(frame_in)
    os.close(printed_in)
    watched = _watch(child, frame_out, printed_out, channel, job["wall_s"], keep.limits)
    watched.out_of_memory = system.out_of_memory_kills() > kills
    system.end_everything(child)
    os.close(frame_out)
    os.close(printed_out)
    if watched.hung_up:
        raise SystemExit(0)
    kept = bytes(watched.printed[: keep.limits.stdout_bytes])
    return {
        **_verdict(watched, keep.limits, job["wall_s"]),
        "stdout": kept.decode("utf-8", "backslashreplace"),
    }


def _be_the_player(keep: Keep, job: dict[str, Any], frame_fd: int, printed_fd: int) -> None:
    """The forked process: caged, cut off from the stage's channel, and gone when it has answered."""
    try:
        os.setsid()
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.dup2(printed_fd, 1)
        os.dup2(printed_fd, 2)
        os.dup2(frame_fd, 3)
        os.closerange(4, 256)
        console = Console(1, 8 * keep.limits.stdout_bytes)
        console.install()
        for name in [name for name in sys.modules if name.partition(".")[0] == "grader"]:
            del sys.modules[name]
        system.enter_cage(
            cpu_s=keep.limits.scene_cpu_s,
            # The rest is the stage's own: a MemoryError says where; the kernel's ending it doesn't.
            memory_bytes=keep.limits.memory_bytes * 7 // 8,
            processes=keep.processes,
        )
        frame = player.answer(job, keep.source, keep.scenes, console, keep.limits.frame_bytes)
        rest = memoryview(frame)
        while rest:
            rest = rest[_write(3, rest) :]
    finally:
        _exit(0)


def _watch(
    child: int, frame_fd: int, printed_fd: int, channel: int, wall_s: float, limits: Limits
) -> _Play:
    """Gather what comes out of the process `child` until it is gone or its time is up."""
    seen = _Play()
    deadline = time.monotonic() + wall_s
    poll = select.poll()
    for fd in (frame_fd, printed_fd):
        os.set_blocking(fd, False)
        poll.register(fd, select.POLLIN)
    poll.register(channel, select.POLLHUP)
    exit_fd = _exit_fd(child)
    if exit_fd is not None:
        poll.register(exit_fd, select.POLLIN)
    keep = {frame_fd: (seen.frame, limits.frame_bytes + 64), printed_fd: (seen.printed, 1 << 16)}
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
    return (status, usage.ru_utime + usage.ru_stime) if pid else (None, 0.0)


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


def _verdict(seen: _Play, limits: Limits, wall_s: float) -> dict[str, Any]:
    """What the job gave, or the fault that kept it from giving anything."""
    status = seen.status
    if seen.timed_out or status is None:
        return _fault("timeout", f"the harness did not come back within {wall_s:g} s")
    ending = os.waitstatus_to_exitcode(status)
    if ending < 0 or not seen.frame:
        return _ended(seen, -ending, limits)
    try:
        return _only_frame(seen.frame, limits)
    except WireError as exc:
        return _fault("protocol", f"the harness wrote where only the grader writes: {exc}")


def _ended(seen: _Play, killed_by: int, limits: Limits) -> dict[str, Any]:
    """Why a job that is gone gave nothing. `killed_by` is a signal, or 0 where it left by itself."""
    if seen.out_of_memory:
        return _fault("memory", "the harness ran out of memory")
    spent = seen.cpu_s >= limits.scene_cpu_s
    if killed_by == signal.SIGXCPU or (killed_by == signal.SIGKILL and spent):
        return _fault("timeout", f"the harness used up {limits.scene_cpu_s:g} s of processor time")
    if killed_by > 0:
        return _fault("crash", f"the harness brought the program down ({_signal_name(killed_by)})")
    return _fault("crash", "the harness ended the whole program, without an error")


def _only_frame(data: bytearray, limits: Limits) -> dict[str, Any]:
    """The one frame in `data`.

    Raises:
        WireError: none, more than one, over the limit, or not a player's answer.
    """
    stream = memoryview(bytes(data))
    taken = 0

    def read(count: int) -> bytes:
        nonlocal taken
        part = bytes(stream[taken : taken + count])
        taken += len(part)
        return part

    try:
        outcome = wire.read_frame(read, limits.frame_bytes)
    except EOFError as exc:
        raise WireError(str(exc)) from exc
    if taken != len(stream):
        raise WireError("there is more than one answer")
    if not isinstance(outcome, dict) or len(outcome) != 1:
        raise WireError("it is no answer")
    return outcome


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _fault(kind: Any, message: str) -> dict[str, Any]:
    return {"fault": to_json(SceneFault(kind, message))}


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

    # An input that ends, be it inside a frame, is the grader's going away: no fault, and status 0.
    with contextlib.suppress(EOFError, BrokenPipeError, WireError):
        keep = open_stage(wire.read_frame(read, wire.MAX_TRUSTED_FRAME))
        send({"op": "opened", "python": ".".join(map(str, sys.version_info[:3]))})
        while True:
            send(play(keep, wire.read_frame(read, wire.MAX_TRUSTED_FRAME), channel))
