"""`lab_check lessons`, `rules`, `hint`, `start`, `demo`: what a lesson has to offer beside its tests."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands.shared import (
    Exit,
    completing,
    lesson_option,
    lessons_option,
    limits_of,
    runner_option,
    warn,
)

if TYPE_CHECKING:
    from grader.hints import Gap
    from grader.lessons import Lesson
    from grader.state import Memory


def _rule_names(lesson: Lesson) -> dict[str, str]:
    return {
        **{rule.id: rule.text for rule in lesson.rules.values()},
        **{test.id: test.title for test in lesson.tests},
    }


def _gap_names(lesson: Lesson) -> dict[str, str]:
    from grader import hints  # noqa: PLC0415

    return {gap.id: gap.where for gap in hints.load(lesson)}


@click.command("lessons")
@lessons_option
def list_lessons(*, folders: tuple[str, ...]) -> None:
    """List the lessons: number, title, count of tests."""
    from grader import lessons  # noqa: PLC0415
    from grader.errors import LessonError  # noqa: PLC0415

    broken: list[LessonError] = []
    for number in lessons.folders(folders):
        try:
            lesson = lessons.find(number, folders)
        except LessonError as exc:  # the others are worth knowing of all the same
            broken.append(exc)
        else:
            click.echo(f"{number:>4}  {lesson.title}  ({len(lesson.tests)} tests)")
    for each in broken:
        warn(f"{each.message}\n{each.help}")
    raise SystemExit(Exit.GRADER if broken else Exit.PASSED)


@click.command()
@lesson_option
@lessons_option
@click.argument("rule", required=False, shell_complete=completing(_rule_names))
def rules(*, lesson: int, folders: tuple[str, ...], rule: str | None) -> None:
    """Explain a lesson's rules, or one RULE and the wrong answers that it is known for."""
    from grader import lessons  # noqa: PLC0415
    from grader.render import rules as explain  # noqa: PLC0415

    click.echo(explain.render(lessons.find(lesson, folders), rule), nl=False)


@click.command()
@lesson_option
@lessons_option
@click.argument("folder", required=False, default=".", type=click.Path(path_type=Path))
def start(*, lesson: int, folders: tuple[str, ...], folder: Path) -> None:
    """Write a student's kit into FOLDER: the starter, the lab, and how to grade. Overwrites nothing."""
    from grader import kit, lessons  # noqa: PLC0415

    for path in kit.write(lessons.find(lesson, folders), folder):
        click.echo(f"wrote {path}")


@click.command()
@lesson_option
@runner_option
@click.option("--timeout", type=float, metavar="SECONDS", help="For the whole demonstration.")
@lessons_option
@click.argument("submission", metavar="SUBMISSION", type=click.Path())
def demo(
    *, lesson: int, runner: str, timeout: float | None, folders: tuple[str, ...], submission: str
) -> None:
    """Play the demonstration at the end of a lesson's page with SUBMISSION, and show what it prints."""
    from grader import demo as demos  # noqa: PLC0415
    from grader import lessons, rooms  # noqa: PLC0415
    from grader import submission as submissions  # noqa: PLC0415
    from grader.errors import SubmissionError  # noqa: PLC0415
    from grader.render.escaping import visible  # noqa: PLC0415

    chosen, limits = lessons.find(lesson, folders), limits_of(timeout)
    try:
        read = submissions.read(submission, limits.submission_bytes)
    except SubmissionError as exc:
        warn(f"{exc.message}\n{exc.help}".strip())
        raise SystemExit(Exit.NOT_PASSED) from exc
    with contextlib.closing(rooms.choose(runner, limits=limits, warn=warn)) as opened:
        shown = demos.play(read, chosen, rooms=opened, limits=limits)
    click.echo(visible(shown.printed), nl=False)
    if not shown.problem:
        return
    warn(f"the demonstration broke off: {shown.problem}")
    raise SystemExit(Exit.GRADER if shown.ours else Exit.NOT_PASSED)


@click.command()
@lesson_option
@click.option(
    "--all", "every", is_flag=True, envvar="LAB_CHECK_HINT_ALL", help="Show every hint at once."
)
@lessons_option
@click.argument("gap", required=False, shell_complete=completing(_gap_names))
def hint(*, lesson: int, every: bool, folders: tuple[str, ...], gap: str | None) -> None:
    """Show the next hint for a GAP of the starter: three each, from a nudge to an outline.

    Without a GAP, the gaps are listed. A gap is meant by its name or its number.
    """
    from grader import hints, lessons, state  # noqa: PLC0415

    chosen = lessons.find(lesson, folders)
    known, memory = hints.load(chosen), state.Memory("hints", lesson)
    if gap is not None:
        meant = hints.find(known, gap, chosen)
        all_seen = memory.shown(meant.id) >= len(meant.hints)
        _show(meant, range(len(meant.hints)) if every else [_next(meant, memory)])
        if all_seen and not every:
            click.echo(f"\nYou have seen every hint for {meant.id}; --all shows them together.")
        return
    for number, each in enumerate(known, start=1):
        seen = min(memory.shown(each.id), len(each.hints))
        click.echo(f"{number:>4}  {each.id}: {each.where}  ({seen} of {len(each.hints)} shown)")
        if every:
            _show(each, range(len(each.hints)))


def _next(gap: Gap, memory: Memory) -> int:
    """Which hint comes next; the last one stays."""
    at = min(memory.shown(gap.id), len(gap.hints) - 1)
    if not memory.keep_shown(gap.id, at + 1) and len(gap.hints) > 1:
        warn("what was shown can't be remembered here; --all shows every hint.")
    return at


def _show(gap: Gap, which: range | list[int]) -> None:
    import textwrap  # noqa: PLC0415

    for at in which:
        click.echo(f"\n{gap.id}, hint {at + 1} of {len(gap.hints)}\n")
        click.echo(textwrap.fill(" ".join(gap.hints[at].split()), 80))
