"""How a grading that was asked for is carried out: once, again at each save, or for every lesson."""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import grading, kit, lessons, output, watching
from grader.commands.shared import Exit, limits_of
from grader.errors import UsageError
from grader.grading import BreakOffError
from grader.judging import Judge
from grader.render import changes, so_far
from grader.render.escaping import one_line
from grader.state import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from grader.lessons import Lesson
    from grader.records import Report
    from grader.rooms import Rooms

    Warn = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """What was typed, or stands in the environment or a course's table. Fields are `grade`'s options."""

    lesson: int | str
    harness: str | None
    runner: str
    format: str
    report: tuple[tuple[str, Path], ...]
    seed: int | None
    fail_under: int | None
    test: tuple[str, ...]
    failed: bool
    exitfirst: bool
    explain: bool
    verbose: bool
    quiet: bool
    watch: bool
    timeout: float | None
    folders: tuple[str, ...]
    submission: str

    def __post_init__(self) -> None:
        """Refuse what makes no sense together.

        Raises:
            UsageError: two options that are at odds.
        """
        piped = self.file == "-"
        for first, second, both in (
            ("--test", "--failed", self.test and self.failed),
            ("--verbose", "--quiet", self.verbose and self.quiet),
            ("--explain", "--quiet", self.explain and self.quiet),
            ("--watch", "--lesson all", self.watch and self.lesson == "all"),
            ("--watch", "--format", self.watch and self.format != "text"),
            ("--watch", "standard input", self.watch and piped),
            ("--failed", "standard input", self.failed and piped),
        ):
            if both:
                raise UsageError(f"{first} and {second} do not go together.", help="Leave one out.")

    @property
    def file(self) -> str:
        """What is to be graded: in the pages' form it is not the argument."""
        return self.submission if self.harness is None else self.harness


def once(asked: Asked, opened: Rooms, warn: Warn) -> Exit:
    """Grade, write the reports, and say how it went."""
    lesson = _lesson(asked)
    written = _output(asked, lesson)
    report = _graded(asked, lesson, opened, warn)
    written.write(report)
    return _status(report, asked.fail_under)


def watch(asked: Asked, opened: Rooms, warn: Warn) -> NoReturn:
    """Grade now and at each save, until there is a Ctrl-C, which comes out of here as it is."""
    lesson = _lesson(asked)
    written = _output(asked, lesson)
    before: Report | None = None
    click.echo(f"Watching {one_line(Path(asked.file).name)}; Ctrl-C ends it.", err=True)
    with contextlib.closing(Judge(opened, lesson, limits_of(asked.timeout))) as judge:
        for _ in watching.saves(Path(asked.file)):
            report = _graded(asked, lesson, opened, warn, judge)
            if before is not None:
                click.echo(f"\n{time.strftime('%H:%M:%S')}  {Path(asked.file).name} was saved")
                click.echo(changes.render(before, report))
            written.write(report)
            before = report
    raise AssertionError("a file is watched for as long as nobody ends it")


def every_lesson(asked: Asked, opened: Rooms, warn: Warn) -> Exit:
    """Grade for each lesson there is, and list what the harness can do so far.

    Raises:
        UsageError: an option that is about a single lesson.
    """
    alone = [
        ("--harness", asked.harness),
        ("--report", asked.report),
        ("--test", asked.test),
        ("--failed", asked.failed),
        ("--fail-under", asked.fail_under is not None),
        ("--format", asked.format != "text"),
        ("--explain", asked.explain),
        ("--verbose", asked.verbose),
        ("standard input", asked.submission == "-"),
    ]
    for name, given in alone:
        if given:
            raise UsageError(f"--lesson all and {name} do not go together.", help="Leave one out.")
    every = [lessons.find(number, asked.folders) for number in lessons.folders(asked.folders)]
    reports = [_graded(asked, lesson, opened, warn) for lesson in every]
    click.echo(so_far.render(reports, quiet=asked.quiet), nl=False)
    return max((_status(report, None) for report in reports), default=Exit.PASSED)


def _lesson(asked: Asked) -> Lesson:
    """The lesson that is meant, in which `--fail-under` can be reached.

    Raises:
        UsageError: what was typed names no lesson, or more points than there are.
    """
    lesson = _named(asked)
    most = sum(test.points for test in lesson.tests)
    if asked.fail_under is not None and not 0 <= asked.fail_under <= most:
        raise UsageError(
            f"--fail-under {asked.fail_under} can't be: lesson {lesson.number} has {most} points.",
            help=f"Name a number from 0 to {most}.",
        )
    return lesson


def _named(asked: Asked) -> Lesson:
    """The lesson that was typed; in the pages' form, the argument may be a lesson's folder.

    Raises:
        UsageError: the argument is neither a kit's stand-in nor a lesson folder.
    """
    assert isinstance(asked.lesson, int)
    path = Path(asked.submission)
    if asked.harness is None:
        return lessons.find(asked.lesson, asked.folders)
    if path.is_dir():
        return lessons.load(path)
    if not kit.stands_for_builtin(path):
        raise UsageError(
            f"{path} is not this lab's tests.py, and not a lesson folder.",
            help="Hidden tests of your own are a folder with lesson.toml, scenes.py and one"
            " test_*.py; name that folder here. CONTRIBUTING.md shows a small one.",
        )
    return lessons.find(asked.lesson, asked.folders)


def _output(asked: Asked, lesson: Lesson) -> output.Output:
    return output.Output(
        asked.format,
        asked.report,
        asked.file,
        explain=lesson.rules if asked.explain else None,
        verbosity=asked.verbose - asked.quiet,
    )


def _graded(
    asked: Asked, lesson: Lesson, opened: Rooms, warn: Warn, judge: Judge | None = None
) -> Report:
    memory = None if asked.file == "-" else Memory.of_submission(asked.file, lesson.number)
    report = grading.grade(
        sys.stdin.buffer if asked.file == "-" else asked.file,
        lesson,
        rooms=opened,
        seed=asked.seed,
        limits=limits_of(asked.timeout),
        tests=_tests(asked, lesson, memory, warn),
        judge=judge,
        on_result=_stop_at_a_failure if asked.exitfirst else None,
    )
    if memory is not None:
        memory.keep_outcomes({test.id: test.outcome for test in report.tests})
    return report


def _tests(asked: Asked, lesson: Lesson, memory: Memory | None, warn: Warn) -> tuple[str, ...]:
    if not asked.failed or memory is None:
        return asked.test
    failed = memory.failed()
    known = tuple(test.id for test in lesson.tests if test.id in failed)
    if not known:
        warn("no failure is remembered, so every test is run.")
    return known


def _stop_at_a_failure(name: str, outcome: str) -> None:
    if outcome == "fail":
        raise BreakOffError(f"Stopped at the first failure, {name}, as --exitfirst asks.")


def _status(report: Report, fail_under: int | None) -> Exit:
    if report.verdict == "error":
        return Exit.GRADER
    if fail_under is not None:
        return Exit.PASSED if report.score.points >= fail_under else Exit.NOT_PASSED
    return Exit.PASSED if report.verdict == "pass" else Exit.NOT_PASSED
