"""Who owns a container, and what to remove because nobody does any more.

A container is labelled before it starts: the project, the run, its owner (machine, process, the time at
which that process started) and a deadline. A sweep removes those of this project that are past their
deadline, and those whose owner ran on this machine and is gone. Anything else is somebody's.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.rooms import engine as engines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.rooms.engine import Engine

PROJECT, RUN, OWNER, DEADLINE = (
    "lab_check.project",
    "lab_check.run",
    "lab_check.owner",
    "lab_check.deadline",
)
PROJECT_NAME = "lab_check"


@dataclass(frozen=True)
class Owner:
    """A process on a machine. `started` tells it from a later one that got the same number."""

    host: str
    pid: int
    started: str

    def __str__(self) -> str:
        return f"{self.host} {self.pid} {self.started}"

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """The owner that `str` was taken of; None where it is no such text."""
        try:
            host, pid, started = text.rsplit(" ", 2)
            return cls(host, int(pid), started)
        except ValueError:
            return None


def this_process() -> Owner:
    """Ourselves, as the owner of containers."""
    return Owner(_host(), os.getpid(), _started(os.getpid()))


def labels(run: str, lifetime_s: float) -> dict[str, str]:
    """What a container is labelled with.

    Args:
        run: of this program, so that it finds its own again.
        lifetime_s: seconds from now after which anybody may remove it.
    """
    return {
        PROJECT: PROJECT_NAME,
        RUN: run,
        OWNER: str(this_process()),
        DEADLINE: str(int(time.time() + lifetime_s)),
    }


def is_leftover(labelled: Mapping[str, str], now: float) -> bool:
    """Whether a container with these labels may go: past its deadline, or its owner is gone.

    Args:
        labelled: its labels.
        now: seconds since 1970.
    """
    if labelled.get(PROJECT) != PROJECT_NAME:
        return False
    deadline = labelled.get(DEADLINE, "")
    if not deadline.isdigit() or now > int(deadline):
        return True
    owner = Owner.parse(labelled.get(OWNER, ""))
    if owner is None:
        return True
    return owner.host == _host() and not _alive(owner)


def sweep(engine: Engine, *, run: str | None = None) -> list[str]:
    """Remove what nobody owns any more; gives the ids of what was removed.

    Args:
        engine: whose containers are looked at.
        run: also remove everything of this run.

    Raises:
        RoomError: the engine does not answer.
    """
    removed = []
    with engine.client() as api:
        for found in _ours(api):
            labelled = found.get("Labels") or {}
            mine = run is not None and labelled.get(RUN) == run
            if mine or is_leftover(labelled, time.time()):
                engines.remove(api, found["Id"])
                removed.append(str(found["Id"]))
    return removed


def _ours(api: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.containers(
        all=True, filters={"label": f"{PROJECT}={PROJECT_NAME}"}
    )
    return found


def _host() -> str:
    """This machine since it was switched on, and which processes can be seen from here."""
    parts = [platform.node().replace(" ", "_") or "localhost"]
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        parts.append(boot.strip()[:8])
    with contextlib.suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    return "/".join(parts)


def _started(pid: int) -> str:
    """When a process started, in ticks since the machine did; "" where that can't be told."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "?"


def _alive(owner: Owner) -> bool:
    if Path("/proc/self/stat").exists():
        return _started(owner.pid) == owner.started
    if os.name != "posix":
        return True  # signal 0 ends a process there; the deadline will do
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
