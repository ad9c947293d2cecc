"""What commands have in common: exit status, options, a word on standard error."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.carried import Limits
    from grader.lessons import Lesson


class Exit(enum.IntEnum):
    """What the exit status says."""

    PASSED = 0
    NOT_PASSED = 1
    USAGE = 2
    GRADER = 3
    INTERRUPTED = 130
    TERMINATED = 143


def warn(text: str) -> None:
    """Say something on standard error, in a way that no terminal and no pipeline obeys."""
    from grader.render.escaping import visible  # noqa: PLC0415

    # A name is the student's, and a pipeline obeys what stands in its log.
    told = visible(text).replace("##[", "# #[").replace("::", ": :")
    click.echo(f"lab_check: {told}", err=True)


def limits_of(timeout: float | None) -> Limits:
    """The limits that `--timeout SECONDS` asks for.

    Raises:
        UsageError: no time at all.
    """
    from grader.carried import Limits  # noqa: PLC0415
    from grader.errors import UsageError  # noqa: PLC0415

    if timeout is None:
        return Limits()
    if timeout <= 0:
        raise UsageError("--timeout takes a number of seconds above 0.")
    return Limits(total_s=timeout)


# --- completion ------------------------------------------------------------------------------------


def known_lessons(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Numbers of lessons, for a shell that completes."""
    from grader import lessons  # noqa: PLC0415
    from grader.errors import LabCheckError  # noqa: PLC0415

    found: list[CompletionItem] = []
    try:
        numbers = lessons.folders(_folders(ctx))
    except LabCheckError:
        return []
    for number in numbers:
        if str(number).startswith(typed):
            try:
                title = lessons.find(number, _folders(ctx)).title
            except LabCheckError:
                title = "(broken)"
            found.append(CompletionItem(str(number), help=title))
    return found


def completing(names: Callable[[Lesson], dict[str, str]]) -> Any:
    """Completion by what the lesson has that was named before: `names` gives a help text by name."""

    def complete(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        from grader import lessons  # noqa: PLC0415
        from grader.errors import LabCheckError  # noqa: PLC0415

        try:
            lesson = lessons.find(int(ctx.params.get("lesson") or 0), _folders(ctx))
            known = names(lesson)
        except (LabCheckError, ValueError):
            return []
        return [CompletionItem(n, help=told) for n, told in known.items() if n.startswith(typed)]

    return complete


def _folders(ctx: click.Context) -> tuple[str, ...]:
    return tuple(ctx.params.get("folders") or ())


# --- options ---------------------------------------------------------------------------------------

lessons_option = click.option(
    "--lessons",
    "folders",
    multiple=True,
    type=click.Path(),
    envvar="LAB_CHECK_LESSONS",
    help="A folder with more lesson folders, beside the built-in ones.",
)
lesson_option = click.option(
    "--lesson",
    type=int,
    required=True,
    envvar="LAB_CHECK_LESSON",
    help="The lesson's number.",
    shell_complete=known_lessons,
)
runner_option = click.option(
    "--runner",
    type=click.Choice(["auto", "docker", "local"]),
    default="auto",
    show_default=True,
    envvar="LAB_CHECK_RUNNER",
    help="Where to run: containers, plain processes, or whichever is there.",
)
