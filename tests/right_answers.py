"""Right answers that fail: graded with many seeds on a busy machine, there may be none.

    python -m tests.right_answers [--lesson N] [--seeds N] [--jobs N] [--minutes N] [--write]

Grades every right answer of tests/solutions/ with so many seeds, `--jobs` at a time: by default two for each
core, so that each has more to do than it can. Prints how many gradings there were, how many did not pass, how
long they took and how long the slowest did. `--write` puts that into docs/verdicts.md. No new grading begins
after `--minutes`.

Exit status: 0 all passed · 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits
from grader.rooms.process import ProcessRooms
from tests.wrong_answers.table import written

if TYPE_CHECKING:
    from grader.records import Report

SOLUTIONS = Path(__file__).parent / "solutions"
FIRST_SEED = 1000  # not one that other tests use


@dataclass
class Row:
    """The count of one lesson."""

    lesson: int
    answers: int = 0
    gradings: int = 0
    took_s: float = 0.0
    slowest_s: float = 0.0
    failed: list[str] = field(default_factory=list)


def right_answers(lesson: int) -> list[Path]:
    """The solution first, then the others by name."""
    folder = SOLUTIONS / f"lesson_{lesson:02}"
    return [
        folder / "harness.py",
        *sorted(p for p in folder.glob("*.py") if p.name != "harness.py"),
    ]


def tried(lesson: int, seeds: int, jobs: int, until: float) -> Row:
    """Grade a lesson's right answers with so many seeds, or until the time is up."""
    paths = right_answers(lesson)
    row, lock = Row(lesson, answers=len(paths)), threading.Lock()

    def some(mine: range) -> None:
        rooms, found = ProcessRooms(), lessons.find(lesson)
        with closing(Judge(rooms, found, Limits())) as judge:
            for seed in mine:
                for path in paths:
                    if time.monotonic() > until:
                        return
                    report = grade(path, found, rooms=rooms, judge=judge, seed=seed)
                    with lock:
                        _count(row, path, report)
                        click.echo(f"\rlesson {lesson}: {row.gradings} graded", nl=False, err=True)

    with ThreadPoolExecutor(jobs) as pool:
        shares = [range(FIRST_SEED + job, FIRST_SEED + seeds, jobs) for job in range(jobs)]
        for done in [pool.submit(partial(some, share)) for share in shares]:
            done.result()
    return row


def _count(row: Row, path: Path, report: Report) -> None:
    row.gradings += 1
    row.took_s += report.duration_s
    row.slowest_s = max(row.slowest_s, report.duration_s)
    if report.verdict != "pass":
        told = [f"{t.id}: {t.outcome} {t.message}" for t in report.tests if t.outcome != "pass"]
        seed = report.grader.seed
        row.failed.append(f"{path.stem}, seed {seed}: {report.verdict}; {'; '.join(told)[:2000]}")


def table(rows: list[Row]) -> str:
    """The count, as a Markdown table."""
    lines = ["| lesson | right answers | gradings | not passed | on average | slowest |"]
    lines.append("| ---: | ---: | ---: | ---: | ---: | ---: |")
    lines += [
        f"| {row.lesson} | {row.answers} | {row.gradings} | {len(row.failed)}"
        f" | {row.took_s / max(row.gradings, 1):.2f} s | {row.slowest_s:.2f} s |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> int:
    """Grade, print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.right_answers")
    numbers = [n for n in sorted(lessons.folders()) if (SOLUTIONS / f"lesson_{n:02}").is_dir()]
    parser.add_argument("--lesson", type=int, action="append", choices=numbers)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--write", action="store_true", help="put the table into docs/verdicts.md")
    options = parser.parse_args()
    until = time.monotonic() + 60 * options.minutes
    rows = [tried(n, options.seeds, options.jobs, until) for n in options.lesson or numbers]
    click.echo("\n" + table(rows))
    if options.write:
        written("right answers", table(rows))
    failed = [f"lesson {row.lesson}, {line}" for row in rows for line in row.failed]
    click.echo("\n".join(failed), err=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
