"""How memory and time of `lab_check batch` grow with a cohort.

    python benchmarks/cohort.py [--runner docker] [--lesson 10] [COUNT ...]

Grades made-up cohorts with the real command and two workers: 50, 100, 1,000 and 100 submissions unless told
otherwise, of the small lesson 90 in tests/cohort/lessons, or of a lesson's solution, each a little another.
Each line gives the time on the clock, the processor time of the command with its rooms (which other work on
the machine disturbs less), and the peak memory of the command's own process. What should hold: 1,000 need at
most 1.25 times the memory of 50, and at most 11 times the time of 100.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.cohort import make_cohort  # noqa: E402 - found by the line above

# The command, in a process that tells its own peak when it ends. `wait4` would tell the largest of it and
# the rooms that it has waited for.
_COMMAND = """
import atexit, os, sys
def tell():
    with open("/proc/self/status") as status:
        peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    with open(os.environ["PEAK"], "w") as file:
        file.write(peak)
atexit.register(tell)
from grader.cli import main
main(sys.argv[1:])
"""


@dataclass(frozen=True)
class Figures:
    """What one batch took: seconds on the clock, seconds of processors, MiB at its peak."""

    count: int
    clock_s: float
    processor_s: float
    peak_mib: float

    def __str__(self) -> str:
        return (
            f"{self.count:6,} submissions  {self.clock_s:7.1f} s  {self.processor_s:7.1f} s processor"
            f"  {self.peak_mib:6.1f} MiB  {self.count / self.clock_s:5.1f} a second"
        )


def cohort(count: int, lesson: int) -> dict[str, str]:
    """What everybody handed in; no two the same, because each has the values of its own hash."""
    made = make_cohort.students(count)
    if lesson == 90:
        return make_cohort.plain(made)
    solution = ROOT / "tests" / "solutions" / f"lesson_{lesson:02}" / "harness.py"
    text = solution.read_text(encoding="utf-8")
    return {f"{one.key}/harness.py": f"{text}\n# {one.key}\n" for one in made}


def measured(count: int, runner: str, lesson: int) -> Figures:
    """Grade a cohort of `count`."""
    with tempfile.TemporaryDirectory(prefix="lab_check-benchmark-") as name:
        folder = Path(name)
        source = make_cohort.as_zip(cohort(count, lesson), folder / "in.zip")
        lessons = str(ROOT / "tests" / "cohort" / "lessons")
        options = ["--lesson", str(lesson), "--runner", runner, "--workers", "2"]
        if lesson == 90:
            options += ["--lessons", lessons]
        arguments = ["batch", *options, "--quiet", "--out", str(folder / "out"), str(source)]
        before, began = os.times(), time.monotonic()
        subprocess.run(
            [sys.executable, "-c", _COMMAND, *arguments],
            cwd=ROOT,
            env={**os.environ, "PEAK": str(folder / "peak")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        took_s, after = time.monotonic() - began, os.times()
        used_s = sum(after[2:4]) - sum(before[2:4])
        reports = len(list((folder / "out" / "reports").glob("*.json")))
        if reports != count:
            raise SystemExit(f"{reports} reports of {count}")
        return Figures(count, took_s, used_s, int((folder / "peak").read_text()) / 1024)


def main() -> None:
    """Measure, and compare the largest cohort with the smaller ones."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("counts", nargs="*", type=int, metavar="COUNT")
    parser.add_argument("--runner", default="local", choices=["local", "docker"])
    parser.add_argument("--lesson", type=int, default=90)
    asked = parser.parse_args()
    found = []
    for count in asked.counts or [50, 100, 1000, 100]:
        found.append(measured(count, asked.runner, asked.lesson))
        click.echo(str(found[-1]))
    most = max(found, key=lambda one: one.count)
    for count in sorted({one.count for one in found} - {most.count}):
        same = [one for one in found if one.count == count]
        clock_s = sum(one.clock_s for one in same) / len(same)
        processor_s = sum(one.processor_s for one in same) / len(same)
        peak_mib = sum(one.peak_mib for one in same) / len(same)
        click.echo(
            f"{most.count:,} against {count:,}: {most.count / count:g} times as many,"
            f" {most.clock_s / clock_s:.2f} times the time,"
            f" {most.processor_s / processor_s:.2f} times the processor time,"
            f" {most.peak_mib / peak_mib:.2f} times the memory"
        )


if __name__ == "__main__":
    main()
