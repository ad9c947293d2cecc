"""Is this machine fit to grade on? Engine, image, and then each limit tripped for real in a container.

An engine may take a flag and ignore it (rootless ones do), so nothing is believed that was not tried.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.carried import Limits, to_json
from grader.errors import LabCheckError, RoomError, WireError
from grader.rooms import image as images
from grader.rooms import sweeping
from grader.rooms.container import ContainerRoom
from grader.rooms.engine import Engine
from grader.rooms.flags import UID, container_flags

if TYPE_CHECKING:
    from collections.abc import Iterator

Flags = Callable[..., dict[str, Any]]

_PROBE_S = 30.0
_LIFETIME_S = 300.0
_SLACK = 1.3  # a quota of processor time is kept to on average
_IGNORED = "The engine ignores this flag; do not grade strangers' submissions with it."
_SCENES = """
import time
def large(actor): return "x" * (2 << 20)
def endless(actor): time.sleep(600)
"""


@dataclass(frozen=True)
class Finding:
    """One line of what the doctor says. `good` is None where it can't be told on this machine."""

    name: str
    good: bool | None
    message: str
    help: str = ""


@dataclass(frozen=True)
class _Bench:
    """Where probes run: an engine, an image's id, and what seals a container."""

    engine: Engine
    image: str
    limits: Limits
    flags: Flags
    run: str

    def room(self, program: list[str] | None = None) -> ContainerRoom:
        labels = sweeping.labels(self.run, _LIFETIME_S)
        flags = self.flags("stage", self.limits, labels=labels, program=program)
        return ContainerRoom(self.engine, "probe", self.image, flags, trusted=False)

    def probe(self, name: str, number: int = 0) -> dict[str, Any]:
        """What a probe found.

        Raises:
            RoomError: the container could not be opened, or the probe ended it.
        """
        source = Path(__file__).with_name("probes.py").read_text(encoding="utf-8")
        room = self.room(["python3", "-I", "-S", "-B", "-c", source, name, str(number)])
        with closing(room):
            found: dict[str, Any] = room.receive(_PROBE_S)
        return found


def examine(
    image: str = images.IMAGE, limits: Limits | None = None, *, flags: Flags = container_flags
) -> Iterator[Finding]:
    """Say how things are, a line at a time; stops at what makes the rest impossible.

    Args:
        image: its name.
        limits: that are tripped.
        flags: what gives a container's flags. Tests put in others, to see that it is noticed.
    """
    try:
        engine = Engine()
    except RoomError as exc:
        yield Finding("engine", False, exc.message, exc.help)
        return
    yield Finding("engine", True, f"{engine.name} answers.")
    try:
        found = images.status(image, engine)
    except LabCheckError as exc:
        yield Finding("image", False, exc.message, exc.help)
        return
    yield Finding("image", found.fits, found.message, found.help)
    if not found.fits or found.id is None:
        return
    bench = _Bench(engine, found.id, limits or Limits(), flags, uuid.uuid4().hex)
    try:
        for check in (_looks, _memory, _processes, _cpu, _frame, _stage):
            try:
                yield from check(bench)
            except (RoomError, WireError) as exc:
                name = check.__name__.strip("_")
                yield Finding(name, False, f"It could not be tried: {exc.message}", exc.help)
    finally:
        sweeping.sweep(engine, run=bench.run)


def sweep() -> list[str]:
    """Remove containers that nobody owns any more; gives their ids.

    Raises:
        RoomError: no engine answers.
    """
    return sweeping.sweep(Engine())


def _looks(bench: _Bench) -> Iterator[Finding]:
    seen = bench.probe("look")
    yield _judged(
        "network",
        not seen["interfaces"] and not seen["connected"],
        "Nothing outside can be reached.",
        f"There is a network: {', '.join(seen['interfaces']) or 'an address can be reached'}.",
    )
    yield _judged(
        "writing",
        not seen["writable"],
        "No folder can be written to.",
        f"Folders can be written to: {', '.join(seen['writable'])}.",
    )
    rights = []
    rights += [] if seen["uid"] == seen["gid"] == UID else [f"it runs as uid {seen['uid']}"]
    rights += ["it has capabilities"] if seen["capabilities"] else []
    rights += [] if seen["no_new_privs"] else ["it can gain privileges"]
    rights += [] if seen["pid"] == 1 else ["it is not PID 1 of its container"]
    yield _judged(
        "privileges",
        not rights,
        f"uid {UID}, no capabilities, none to gain.",
        f"There are privileges: {', '.join(rights)}.",
    )
    yield _judged(
        "shared memory",
        not seen["shared"],
        "Nothing can be left in memory for the next scene.",
        f"Something can be left behind in: {', '.join(seen['shared'])}.",
    )
    asked = bench.flags("stage", bench.limits, labels={}).get("ulimits") or [{}]
    most = max(entry.get("hard", 0) for entry in asked)
    yield _judged(
        "files",
        seen["open_files"] <= most and seen["core"] == 0,
        f"{seen['open_files']} files can be open at once, and no core is dumped.",
        f"{seen['open_files']} files can be open at once; a core may have {seen['core']} bytes.",
    )


def _memory(bench: _Bench) -> Iterator[Finding]:
    limit = bench.limits.memory_bytes
    try:
        seen = bench.probe("memory", limit)
    except RoomError as exc:
        if exc.reason != "memory":
            raise
        seen = {"bytes": 0, "signal": -9}  # the kernel chose to end the probe itself
    yield _judged(
        "memory",
        seen["signal"] == -9 and seen["bytes"] <= limit,
        f"A process that takes more than {limit >> 20} MiB is ended.",
        f"{limit >> 20} MiB are allowed, and {seen['bytes'] >> 20} MiB could be had.",
    )


def _processes(bench: _Bench) -> Iterator[Finding]:
    limit = bench.limits.processes
    count = bench.probe("processes", limit)["count"]
    yield _judged(
        "processes",
        count <= limit,
        f"No more than {count} processes can be started.",
        f"{limit} processes are allowed, and {count} could be started.",
    )


def _cpu(bench: _Bench) -> Iterator[Finding]:
    seen, limit = bench.probe("cpu"), bench.limits.cpus
    if seen["cores"] <= limit:
        few = f"This machine has {seen['cores']} processor(s), no more than the limit of {limit:g}."
        yield Finding("CPU", None, few)
        return
    if not seen["held_back"] and seen["used"] <= limit * _SLACK:
        busy = f"This machine is too busy to tell: {seen['used']:.2f} processors could be had."
        yield Finding("CPU", None, busy)
        return
    yield _judged(
        "CPU",
        seen["used"] <= limit * _SLACK,
        f"{limit:g} of {seen['cores']} processors can be used ({seen['used']:.2f} measured).",
        f"{limit:g} processors are allowed, and {seen['used']:.2f} could be used.",
    )


def _frame(bench: _Bench) -> Iterator[Finding]:
    try:
        bench.probe("flood")
        cut = False
    except WireError:
        cut = True
    yield _judged(
        "frame size",
        cut,
        "A frame that is too large is refused at its first bytes.",
        "A frame of four gigabytes was taken.",
    )


def _stage(bench: _Bench) -> Iterator[Finding]:
    with closing(bench.room()) as room:
        limits = to_json(bench.limits)
        room.send({"op": "open", "source": "", "modules": {}, "scenes": _SCENES, "limits": limits})
        room.receive(_PROBE_S)
        _, large = _played(room, "large", 10.0)
        began = time.monotonic()
        endless, _ = _played(room, "endless", 0.5)
        took_s = time.monotonic() - began
    yield _judged(
        "observation",
        b'"kind":"output"' in large[:100],
        "An observation of more than 1 MiB is refused on the stage.",
        f"An observation of 2 MiB was answered with {large[:80]!s}.",
    )
    yield _judged(
        "deadline",
        endless.get("timed_out") is True and took_s < 5,
        f"A scene of 0.5 s that does not end was ended after {took_s:.1f} s.",
        f"A scene of 0.5 s was ended after {took_s:.1f} s: {str(endless)[:80]}.",
    )


def _played(room: ContainerRoom, scene: str, wall_s: float) -> tuple[dict[str, Any], bytes]:
    """How a scene's process ended, and what it wrote."""
    room.send({"wall_s": wall_s}, {"op": "play", "scene": scene, "given": {}})
    seen, frame, _ = (
        room.receive(_PROBE_S),
        room.receive_bytes(_PROBE_S),
        room.receive_bytes(_PROBE_S),
    )
    return seen, frame


def _judged(name: str, good: bool, well: str, badly: str) -> Finding:
    return Finding(name, good, well if good else badly, "" if good else _IGNORED)
