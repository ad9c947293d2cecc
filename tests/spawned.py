"""The same verdicts where the system can't fork: each submission is graded both ways and compared.

    python -m tests.spawned [--lesson N] [--every N] [--jobs N]

Grades every right answer, starter and wrong answer twice: with forks, and with LAB_CHECK_SPAWN=1, which has
both rooms do without. The reports have to be the same but for times. Prints a table, and each difference.
`--every N` takes each Nth wrong answer only, `--jobs N` grades so many at a time.

Exit status: 0 no difference · 1 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits, to_json
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes
from tests.wrong_answers.table import edited

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.records import Report

HERE = Path(__file__).parent
SWITCH = "LAB_CHECK_SPAWN"


@dataclass(frozen=True)
class Case:
    """A submission to be graded both ways. `tests`: ids, if not all of them; `kind`: its column."""

    lesson: int
    kind: str
    name: str
    source: bytes
    tests: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()  # what must fail, where that is known


@dataclass
class Row:
    """The count of one lesson and kind."""

    lesson: int
    kind: str
    tried: int = 0
    same: int = 0
    forked_s: float = 0.0
    spawned_s: float = 0.0
    differ: list[str] = field(default_factory=list)


def right_answers(lesson: int) -> Iterator[Case]:
    """The solution, and those that do the same in another way."""
    for path in sorted((HERE / "solutions" / f"lesson_{lesson:02}").glob("*.py")):
        yield Case(lesson, "right answers", path.stem, path.read_bytes())


def starters(lesson: int) -> Iterator[Case]:
    """What the lab starts from."""
    starter = lessons.find(lesson).starter
    assert starter is not None
    yield Case(lesson, "starters", "starter", starter.read_bytes())


def wrong_answers(lesson: int) -> Iterator[Case]:
    """The wrong ideas, as tests/wrong_answers has them."""
    file = HERE / "wrong_answers" / f"lesson_{lesson:02}.toml"
    for entry in tomllib.loads(file.read_text(encoding="utf-8"))["wrong"]:
        source = edited(lesson, entry).encode()
        yield Case(lesson, "wrong answers", entry["name"], source, fails=tuple(entry["fails"]))


def graded(case: Case, judge: Judge | None = None) -> Report:
    """Its report, by forks or not as the environment has it."""
    lesson = lessons.find(case.lesson)
    submission = from_bytes(case.source)
    return grade(submission, lesson, rooms=ProcessRooms(), judge=judge, tests=case.tests)


def differences(one: Report, other: Report) -> list[str]:
    """What two reports don't have in common, but for times: nothing, if all is well."""
    return list(_differing("", _timeless(one), _timeless(other)))


def _timeless(report: Report) -> dict[str, Any]:
    data: dict[str, Any] = to_json(report)
    for item in (data, *data["tests"]):
        item.pop("duration_s")
    data.pop("started_at")
    return data


def _differing(where: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _differing(f"{where}.{key}", one[key], other[key])
    elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) != len(other):
            yield f"{where}: {one!r} and {other!r}"
        else:
            for index, pair in enumerate(zip(one, other, strict=True)):
                name = pair[0].get("id", index) if isinstance(pair[0], dict) else index
                yield from _differing(f"{where}.{name}", *pair)
    elif one != other:
        yield f"{where}: {one!r} and {other!r}"


@contextlib.contextmanager
def spawning() -> Iterator[None]:
    """Rooms that are opened meanwhile do without forks."""
    os.environ[SWITCH] = "1"
    try:
        yield
    finally:
        del os.environ[SWITCH]


def forked(lesson: int, cases: Sequence[Case]) -> list[Report]:
    """The reports as they are where the system can fork."""
    with contextlib.closing(Judge(ProcessRooms(), lessons.find(lesson), Limits())) as judge:
        return [graded(case, judge) for case in cases]


def compared(lesson: int, cases: Sequence[Case], jobs: int) -> list[Row]:
    """Grade each case both ways, and count."""
    rows: dict[str, Row] = {}
    expected = forked(lesson, cases)
    with spawning(), ThreadPoolExecutor(jobs) as pool:
        for case, one, other in zip(cases, expected, pool.map(graded, cases), strict=True):
            row = rows.setdefault(case.kind, Row(lesson, case.kind))
            told = differences(one, other)
            row.tried += 1
            row.same += not told
            row.forked_s += one.duration_s
            row.spawned_s += other.duration_s
            row.differ += [f"lesson {lesson}, {case.name}{line}" for line in told]
            click.echo(f"\rlesson {lesson}: {case.kind} {row.tried}   ", nl=False, err=True)
    return list(rows.values())


def table(rows: Sequence[Row]) -> str:
    """The count, as a Markdown table; seconds are for one grading on average."""
    lines = ["| lesson | | graded both ways | same report | with forks | without |"]
    lines.append("| ---: | --- | ---: | ---: | ---: | ---: |")
    lines += [
        f"| {row.lesson} | {row.kind} | {row.tried} | {row.same}"
        f" | {row.forked_s / row.tried:.2f} s | {row.spawned_s / row.tried:.2f} s |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> int:
    """Grade all, print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.spawned")
    parser.add_argument("--lesson", type=int, action="append", choices=sorted(lessons.folders()))
    parser.add_argument("--every", type=int, default=1, help="take each Nth wrong answer only")
    parser.add_argument("--jobs", type=int, default=1, help="grade so many at a time")
    options = parser.parse_args()
    rows, began = [], time.monotonic()
    for lesson in options.lesson or sorted(lessons.folders()):
        cases = [*right_answers(lesson), *starters(lesson)]
        cases += list(wrong_answers(lesson))[:: options.every]
        rows += compared(lesson, cases, options.jobs)
        click.echo("\r" + table(rows), err=True)
    click.echo(table(rows))
    click.echo(f"{time.monotonic() - began:.0f} s in all, {options.jobs} at a time", err=True)
    differ = [line for row in rows for line in row.differ]
    click.echo("\n".join(differ), err=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
