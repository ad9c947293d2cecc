"""`lab_check grade`, the command that is meant where none is named."""

from __future__ import annotations

import contextlib
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from grader.commands.shared import (
    completing,
    known_lessons,
    lessons_option,
    limits_of,
    runner_option,
    warn,
)
from grader.commands.types import LessonNumber, ReportPath, Seed
from grader.render import FORMATS


def _formats(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in FORMATS if name.startswith(typed)]


def _from_table(ctx: click.Context, _param: click.Parameter, named: str | None) -> None:
    """Take defaults from a course's pyproject.toml, for everything that is not said otherwise."""
    from grader import config  # noqa: PLC0415
    from grader.errors import UsageError  # noqa: PLC0415

    if ctx.resilient_parsing:
        return
    table, path = config.settings(named, config.here())
    params = {opt.lstrip("-"): param for param in ctx.command.params for opt in param.opts}
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        param = params.get(key)
        if param is None or not isinstance(param, click.Option) or key == "config":
            known = ", ".join(sorted(name for name in params if len(name) > 1))
            raise UsageError(f"{path}: there is no setting {key!r}.", help=f"There are: {known}.")
        single = param.multiple and not isinstance(value, list)
        defaults[str(param.name)] = [value] if single else value
    ctx.default_map = {**(ctx.default_map or {}), **defaults}


def _words_as_typed(options: dict[str, Any]) -> dict[str, Any]:
    """`options` without a setting on how much to tell that is at odds with what was typed.

    Such a setting, of the environment or a course's table, is for every call; what is typed is for this one.
    """
    source = click.get_current_context().get_parameter_source
    words = ("explain", "verbose", "quiet")
    typed = {name for name in words if source(name) is ParameterSource.COMMANDLINE}
    off: set[str] = set()
    if "quiet" in typed or options["lesson"] == "all":
        off = {"explain", "verbose"} - typed
    elif typed:
        off = {"quiet"} - typed
    return {**options, **dict.fromkeys(off, False)}


@click.command(context_settings={"auto_envvar_prefix": "LAB_CHECK"})
@click.option(
    "--config",
    type=click.Path(),
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_from_table,
    help="A pyproject.toml whose [tool.lab_check] gives defaults for these options.",
)
@click.option(
    "--lesson",
    type=LessonNumber(),
    metavar="N|all",
    required=True,
    help="The lesson's number; `all` for a list of what the harness can do so far.",
    shell_complete=known_lessons,
)
@click.option(
    "--harness",
    type=click.Path(),
    allow_from_autoenv=False,
    help="The pages' own form: the file to grade.",
)
@runner_option
@click.option(
    "--format",
    default="text",
    metavar="FORMAT",
    show_default=True,
    help=f"Of standard output: {', '.join(FORMATS)}.",
    shell_complete=_formats,
)
@click.option("--report", type=ReportPath(), multiple=True, help="Also write a report.")
@click.option(
    "--seed",
    type=Seed(),
    metavar="N|file",
    default="7",
    show_default=True,
    help="What the tests' values are drawn from; file: the submission's own hash.",
)
@click.option("--fail-under", type=int, metavar="POINTS", help="Exit 0 with this many points.")
@click.option(
    "--test",
    multiple=True,
    metavar="ID",
    help="Run this test only.",
    shell_complete=completing(lambda lesson: {test.id: test.title for test in lesson.tests}),
)
@click.option("--failed", is_flag=True, help="Run only what did not pass when it was last run.")
@click.option("--exitfirst", "-x", is_flag=True, help="Stop at the first test that fails.")
@click.option("--explain", is_flag=True, help="Tell each broken rule in full, and who misses it.")
@click.option("--verbose", "-v", is_flag=True, help="Also tell what passed, and how it was graded.")
@click.option("--quiet", "-q", is_flag=True, help="Only name what failed, and the score.")
@click.option("--watch", is_flag=True, help="Grade again whenever the file is saved.")
@click.option(
    "--timeout", type=float, metavar="SECONDS", help="For the whole submission; 60 by default."
)
@lessons_option
@click.argument("submission", metavar="SUBMISSION", type=click.Path())
def grade(**options: Any) -> None:
    """Grade SUBMISSION, a harness.py; `-` reads standard input."""
    from grader import rooms  # noqa: PLC0415 - not for --help

    # First, so that they open while the rest is imported.
    limits = limits_of(options["timeout"])
    chosen = rooms.choose(options["runner"], limits=limits, warn=warn, ahead=True)
    with contextlib.closing(chosen) as opened:
        from grader.commands import running  # noqa: PLC0415

        asked = running.Asked(**_words_as_typed(options))
        if asked.lesson == "all":
            raise SystemExit(running.every_lesson(asked, opened, warn))
        if asked.watch:
            running.watch(asked, opened, warn)
        raise SystemExit(running.once(asked, opened, warn))
