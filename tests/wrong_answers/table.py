"""All wrong answers, tried and counted: one line a lesson.

    python -m tests.wrong_answers.table [--lesson N] [--seeds N] [--reports DIR] [--write]

Each entry of lesson_NN.toml beside this file is graded. It is *caught* if it does not pass, caught *where it
should be* if exactly the tests in its `fails` fail, and *named right* if the report calls it by the id in
`named`, or, where it has none, by no id but those in `may_be_named`. With `--seeds` each is graded with so
many seeds, and all of them have to agree. `--reports` writes what a student would read of each, `--write`
puts the table into docs/verdicts.md.

Exit status: 0 all caught, where they should be, and named right · 1 otherwise.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits
from grader.render import text
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.records import Report

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs" / "verdicts.md"
FIRST_SEED = 7


def entries(lesson: int) -> list[dict[str, Any]]:
    """The wrong answers of a lesson, as its file has them."""
    file = HERE / f"lesson_{lesson:02}.toml"
    found: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["wrong"]
    return found


def edited(lesson: int, entry: dict[str, Any]) -> str:
    """The wrong answer as a harness: the solution with the entry's edits.

    Raises:
        ValueError: what is to be replaced does not stand there just once.
    """
    solution = HERE.parent / "solutions" / f"lesson_{lesson:02}" / "harness.py"
    source = solution.read_text(encoding="utf-8")
    for edit in entry["edit"]:
        if source.count(edit["find"]) != 1:
            raise ValueError(f"{entry['name']}: not found once: {edit['find']!r}")
        source = source.replace(edit["find"], edit["replace"])
    return source


def named(report: Report) -> set[str]:
    """The ids of the wrong ideas that a report names."""
    return {test.wrong_answer.id for test in report.tests if test.wrong_answer is not None}


def misses(entry: dict[str, Any], report: Report) -> list[str]:
    """What the report of a wrong answer does not do as it should: nothing, if all is well."""
    told = []
    if report.verdict != "fail":
        told.append("caught")
    failed = {test.id for test in report.tests if test.outcome == "fail"}
    odd = {test.id for test in report.tests if test.outcome in ("error", "not_run")}
    if failed != set(entry["fails"]) or odd:
        told.append("where")
    must = {entry["named"], *entry.get("also_named", [])} if "named" in entry else set()
    free = set(entry.get("may_be_named", []))
    if not (must <= named(report) if must else named(report) <= free):
        told.append("name")
    return told


@dataclass
class Row:
    """The count of one lesson."""

    lesson: int
    tried: int = 0
    caught: int = 0
    where: int = 0  # caught by the tests that should, and by no other
    nameable: int = 0
    named: int = 0
    silent: int = 0  # without a name of their own, and given none that they may not have
    odd: list[str] = field(default_factory=list)

    def count(self, entry: dict[str, Any], missed: set[str]) -> None:
        """Add one wrong answer, of which this was missed."""
        self.tried += 1
        self.caught += "caught" not in missed
        self.where += "where" not in missed
        has_name = "named" in entry
        self.nameable += has_name
        self.named += has_name and "name" not in missed
        self.silent += not has_name and "name" not in missed
        if missed:
            self.odd.append(
                f"lesson {self.lesson}, {entry['name']}: not {', '.join(sorted(missed))}"
            )


def graded(lesson: int, seeds: range) -> Iterator[tuple[dict[str, Any], list[Report]]]:
    """Each wrong answer of a lesson, with its reports."""
    rooms, found = ProcessRooms(), lessons.find(lesson)
    with closing(Judge(rooms, found, Limits())) as judge:
        for entry in entries(lesson):
            submission = from_bytes(edited(lesson, entry).encode())
            yield (
                entry,
                [grade(submission, found, rooms=rooms, judge=judge, seed=seed) for seed in seeds],
            )


def table(rows: list[Row]) -> str:
    """The count, as a Markdown table."""
    lines = ["| lesson | tried | caught | where they should be | named right | not misnamed |"]
    lines.append("| ---: | ---: | ---: | ---: | ---: | ---: |")
    lines += [
        f"| {row.lesson} | {row.tried} | {row.caught} | {row.where} | {row.named} of {row.nameable}"
        f" | {row.silent} of {row.tried - row.nameable} |"
        for row in rows
    ]
    return "\n".join(lines)


def written(name: str, content: str) -> None:
    """Put `content` into docs/verdicts.md, between the marks with this name."""
    page = DOCS.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    marked = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    DOCS.write_text(marked.sub(lambda _: begin + content + "\n" + end, page), encoding="utf-8")


def main() -> int:
    """Grade all wrong answers, print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.wrong_answers.table")
    numbers = sorted(int(path.stem[-2:]) for path in HERE.glob("lesson_*.toml"))
    parser.add_argument("--lesson", type=int, action="append", choices=numbers)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--reports", type=Path, help="a folder for what students would read")
    parser.add_argument("--write", action="store_true", help="put the table into docs/verdicts.md")
    options = parser.parse_args()
    rows = []
    for number in options.lesson or numbers:
        rows.append(row := Row(number))
        for entry, reports in graded(number, range(FIRST_SEED, FIRST_SEED + options.seeds)):
            row.count(entry, {miss for report in reports for miss in misses(entry, report)})
            if options.reports:
                options.reports.mkdir(parents=True, exist_ok=True)
                file = options.reports / f"{number:02}-{entry['name']}.txt"
                file.write_text(text.render(reports[0]), encoding="utf-8")
    click.echo(table(rows))
    if options.write:
        written("wrong answers", table(rows))
    odd = [line for row in rows for line in row.odd]
    click.echo("\n".join(odd), err=True)
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main())
