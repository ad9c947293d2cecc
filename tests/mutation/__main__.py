"""Mutation testing of the hidden tests: which small changes to a right answer do they let through?

    python -m tests.mutation [--lesson N] [--write]

Needs `pip install mutmut cosmic-ray`. Each mutant of the "your code" regions of
tests/solutions/lesson_NN/harness.py is graded like a submission. One that passes is a survivor: either
the hidden tests are too weak (then a wrong answer is missing from tests/wrong_answers/), or it is no wrong
answer, and equivalent.toml says why. Prints the score and the survivors. `--write` puts them into
docs/verdicts.md as well.

Exit status: 0 every survivor is explained, and every explanation is still needed · 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes
from tests.mutation import mutants
from tests.wrong_answers.table import written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.records import Report
    from tests.mutation.mutants import Mutant

LESSONS = (7, 9, 10)
EQUIVALENT = Path(__file__).parent / "equivalent.toml"
# A mutant that never ends costs processor time and tells nothing more: it is stopped soon.
LIMITS = Limits(scene_cpu_s=1, scene_wall_s=3.0, hurried_wall_s=1.0, patience=1, total_s=20.0)


@dataclass
class Outcome:
    """What became of one lesson's mutants."""

    lesson: int
    tried: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    timed_out: int = 0  # caught by a limit of time, and by nothing else
    ours: list[Mutant] = field(default_factory=list)  # no verdict: a fault of the grader
    caught_by: Counter[str] = field(default_factory=Counter)

    @property
    def caught(self) -> int:
        """How many did not pass."""
        return self.tried - len(self.survivors) - len(self.ours)


def explained() -> dict[tuple[int, str, str], str]:
    """The survivors that are right answers, each with the reason."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(entry["lesson"], entry["before"], entry["after"]): entry["why"] for entry in entries}


def tried(number: int) -> Iterator[tuple[Mutant, Report]]:
    """Each mutant of a lesson and its report."""
    rooms, lesson = ProcessRooms(), lessons.find(number)
    with closing(Judge(rooms, lesson, LIMITS)) as judge:
        for mutant in mutants.of(number):
            submission = from_bytes(mutant.source.encode())
            yield mutant, grade(submission, lesson, rooms=rooms, judge=judge, limits=LIMITS)


def outcome_of(number: int) -> Outcome:
    """Try a lesson's mutants, and say on standard error how far it has got."""
    outcome = Outcome(number)
    for mutant, report in tried(number):
        outcome.tried += 1
        if report.verdict == "pass":
            outcome.survivors.append(mutant)
        elif report.verdict == "error":
            outcome.ours.append(mutant)
        else:
            failed = [test for test in report.tests if test.outcome == "fail"]
            outcome.caught_by.update(test.id for test in failed)
            outcome.timed_out += {test.kind for test in failed} == {"timeout"}
        click.echo(f"\rlesson {number}: {outcome.tried} tried", nl=False, err=True)
    click.echo(err=True)
    return outcome


def table(outcomes: list[Outcome]) -> str:
    """The score, as a Markdown table."""
    rows = ["| lesson | mutants | caught | survived | explained | score |"]
    rows.append("| ---: | ---: | ---: | ---: | ---: | ---: |")
    reasons = explained()
    for each in outcomes:
        known = sum(mutant.key in reasons for mutant in each.survivors)
        share = each.caught / max(each.tried - known, 1)
        rows.append(
            f"| {each.lesson} | {each.tried} | {each.caught} | {len(each.survivors)} | {known}"
            f" | {share:.1%} |"
        )
    return "\n".join(rows)


def survivors(outcomes: list[Outcome]) -> str:
    """Every survivor with its reason, as a Markdown table."""
    reasons = explained()
    rows = ["| lesson | the solution's line | the mutant's | why it is no wrong answer |"]
    rows.append("| ---: | --- | --- | --- |")
    for each in outcomes:
        for mutant in each.survivors:
            cells = [f"`{text}`" for text in (mutant.before, mutant.after)]
            why = reasons.get(mutant.key, "**not explained**")
            rows.append(f"| {each.lesson} | {' | '.join(cells)} | {why} |")
    return "\n".join(rows)


def complaints(outcomes: list[Outcome]) -> list[str]:
    """What has to be seen to before the score can be trusted."""
    reasons = explained()
    told = []
    for each in outcomes:
        alive = {mutant.key for mutant in each.survivors}
        told += [
            f"lesson {each.lesson}, line {mutant.line}: survived, and nothing says why ({mutant.operator}):\n"
            f"    - {mutant.before}\n    + {mutant.after}"
            for mutant in each.survivors
            if mutant.key not in reasons
        ]
        told += [
            f"lesson {each.lesson}, line {mutant.line}: no verdict, the grader failed:\n    + {mutant.after}"
            for mutant in each.ours
        ]
        told += [
            f"equivalent.toml: explained, but it does not survive (any more):\n    - {before}\n    + {after}"
            for number, before, after in reasons
            if number == each.lesson and (number, before, after) not in alive
        ]
    return told


def main() -> int:
    """Try the mutants, print what came of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--lesson", type=int, action="append", choices=LESSONS)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/verdicts.md")
    options = parser.parse_args()
    outcomes = [outcome_of(number) for number in options.lesson or LESSONS]
    click.echo(f"{table(outcomes)}\n\n{survivors(outcomes)}")
    for each in outcomes:
        rarest = ", ".join(f"{name} {count}" for name, count in each.caught_by.most_common())
        click.echo(f"\nlesson {each.lesson}, mutants that each test catches: {rarest}")
        click.echo(f"caught by a limit of time alone: {each.timed_out}")
    if options.write:
        written("mutation", table(outcomes))
        written("survivors", survivors(outcomes))
    told = complaints(outcomes)
    click.echo("\n".join(told), err=True)
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
