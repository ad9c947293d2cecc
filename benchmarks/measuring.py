"""Times whole commands in turn, so that what slows one down slows the other down as well."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True)
class Taken:
    """What one run took."""

    wall_s: float
    cpu_s: float  # user and system, of the process and all it has waited for
    peak_mb: float  # of its largest process
    status: int


@dataclass(frozen=True)
class Command:
    """A command to be timed.

    Args:
        argv: what is run.
        cwd: where.
        expect: the exit status that it has to have, or the figure means nothing.
        machine: count the CPU time of the whole machine: a container engine's work is no child's.
    """

    argv: Sequence[str]
    cwd: Path | None = None
    expect: int = 0
    machine: bool = False
    env: Mapping[str, str] | None = None

    def run(self) -> Taken:
        """Run it once.

        Raises:
            RuntimeError: another exit status than the one expected.
        """
        environment = {**os.environ, **(self.env or {})}
        with tempfile.TemporaryFile() as kept:
            busy, began = _machine_cpu_s(), time.monotonic()
            process = subprocess.Popen(
                self.argv,
                cwd=self.cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=kept,
                stderr=subprocess.STDOUT,
            )
            _, status, used = os.wait4(process.pid, 0)
            wall = time.monotonic() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != self.expect:
                kept.seek(0)
                told = kept.read()[-2000:].decode(errors="replace")
                raise RuntimeError(f"{self.argv} gave {process.returncode}:\n{told}")
        cpu = _machine_cpu_s() - busy if self.machine else used.ru_utime + used.ru_stime
        return Taken(wall, cpu, used.ru_maxrss / 1024, process.returncode)


@dataclass(frozen=True)
class Pair:
    """Two things measured in turn: medians of each, and of the ratios pair by pair."""

    ours: Taken
    theirs: Taken
    wall: float
    cpu: float


def paired(ours: Callable[[], Taken], theirs: Callable[[], Taken], runs: int) -> Pair:
    """Run both `runs` times in turn, after one of each that does not count."""
    ours(), theirs()
    a, b = [], []
    for _ in range(runs):
        a.append(ours())
        b.append(theirs())
    return Pair(
        median(a),
        median(b),
        statistics.median(x.wall_s / y.wall_s for x, y in zip(a, b, strict=True)),
        statistics.median(x.cpu_s / max(y.cpu_s, 1e-3) for x, y in zip(a, b, strict=True)),
    )


def median(taken: Sequence[Taken]) -> Taken:
    """The median of each figure."""
    return Taken(
        statistics.median(one.wall_s for one in taken),
        statistics.median(one.cpu_s for one in taken),
        statistics.median(one.peak_mb for one in taken),
        taken[0].status,
    )


def timed(work: Callable[[], object], *, machine: bool = False) -> Taken:
    """What a call of ours takes, its children included."""
    busy, before, began = _machine_cpu_s(), os.times(), time.monotonic()
    work()
    wall, after = time.monotonic() - began, os.times()
    cpu = _machine_cpu_s() - busy if machine else sum(after[:4]) - sum(before[:4])
    return Taken(wall, cpu, 0.0, 0)


def _machine_cpu_s() -> float:
    """Seconds that all processors have worked since the machine was started."""
    try:
        first = Path("/proc/stat").read_text(encoding="utf-8").partition("\n")[0]
    except OSError:
        return 0.0
    fields = [int(word) for word in first.split()[1:9]]
    idle = fields[3] + fields[4]  # waiting for a disk is no work
    return float(sum(fields) - idle - fields[7]) / os.sysconf("SC_CLK_TCK")
