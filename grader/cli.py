"""The command line. Parses, calls, renders and exits; no logic of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader import __version__
from grader.bundle.command import bundle
from grader.commands.batch import batch
from grader.commands.containers import doctor, image
from grader.commands.shared import Exit, lessons_option, warn
from grader.errors import LabCheckError, LessonError, RoomError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.lessons import Lesson
    from grader.records import Limits, Report


class DefaultGroup(click.Group):
    """A group whose commands may be left out: what names none of them is meant for `grade`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `grade` in front where no command is named."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "--version", "-h"):
            args = ["grade", *args]
        return super().parse_args(ctx, args)


class Seed(click.ParamType[Any]):
    """A whole number, or "file"."""

    name = "N|file"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | None:
        """None stands for "file"."""
        if value == "file":
            return None
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor the word file", param, ctx)


class ReportPath(click.ParamType[Any]):
    """FORMAT=PATH."""

    name = "FORMAT=PATH"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Path]:
        """The two parts."""
        kind, equals, path = str(value).partition("=")
        if not (kind and equals and path):
            self.fail(f"{value!r} is not FORMAT=PATH, such as json=report.json", param, ctx)
        return kind, Path(path)


@click.group(cls=DefaultGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lab_check")
def cli() -> None:
    """Grade one lesson's lab: `lab_check --lesson 10 harness.py`.

    Without a command, `grade` is meant. Exit status: 0 every test passed, 1 the submission did not
    pass, 2 the call is off, 3 the grader failed and there is no verdict, 130 interrupted.
    """


for _command in (batch, image, doctor):
    cli.add_command(_command)


@cli.command()
@click.option("--lesson", type=int, required=True, help="The lesson's number.")
@click.option("--harness", type=click.Path(), help="The pages' own form: the file to grade.")
@click.option(
    "--runner",
    type=click.Choice(["auto", "docker", "local"]),
    default="auto",
    help="Where to run: containers, plain processes, or whichever is there.",
)
@click.option("--format", "form", default="text", metavar="FORMAT", help="Of standard output.")
@click.option("--report", "reports", type=ReportPath(), multiple=True, help="Also write a report.")
@click.option("--seed", type=Seed(), default="7", help="What the tests' values are drawn from.")
@click.option("--fail-under", type=int, metavar="POINTS", help="Exit 0 with this many points.")
@click.option("--test", "tests", multiple=True, metavar="ID", help="Run this test only.")
@click.option("--timeout", type=float, metavar="SECONDS", help="For the whole submission.")
@lessons_option
@click.argument("submission", metavar="SUBMISSION")
def grade(
    *,
    lesson: int,
    harness: str | None,
    runner: str,
    form: str,
    reports: tuple[tuple[str, Path], ...],
    seed: int | None,
    fail_under: int | None,
    tests: tuple[str, ...],
    timeout: float | None,
    folders: tuple[str, ...],
    submission: str,
) -> None:
    """Grade SUBMISSION, a harness.py; `-` reads standard input."""
    from grader import grading, lessons, output, rooms  # noqa: PLC0415 - not for --help

    if harness is None:
        chosen = lessons.find(lesson, folders)
    else:
        chosen, submission = _pages_form(lesson, folders, submission), harness
    written = output.Output(form, reports, submission)
    limits = _limits(timeout)
    with contextlib.closing(rooms.choose(runner, limits=limits, warn=warn)) as opened:
        report = grading.grade(
            sys.stdin.buffer if submission == "-" else submission,
            chosen,
            rooms=opened,
            seed=seed,
            limits=limits,
            tests=tests,
        )
    written.write(report)
    raise SystemExit(_status(report, fail_under))


@cli.command("lessons")
@lessons_option
def list_lessons(*, folders: tuple[str, ...]) -> None:
    """List the lessons: number, title, count of tests."""
    from grader import lessons  # noqa: PLC0415

    broken: list[LessonError] = []
    for number in lessons.folders(folders):
        try:
            lesson = lessons.find(number, folders)
        except LessonError as exc:  # the others are worth knowing of all the same
            broken.append(exc)
        else:
            click.echo(f"{number:>4}  {lesson.title}  ({len(lesson.tests)} tests)")
    for each in broken:
        _told(each)
    raise SystemExit(Exit.GRADER if broken else Exit.PASSED)


@cli.command()
@click.option("--lesson", type=int, required=True, help="The lesson's number.")
@lessons_option
@click.argument("rule", required=False)
def rules(*, lesson: int, folders: tuple[str, ...], rule: str | None) -> None:
    """Explain a lesson's rules, or one RULE and the wrong answers that it is known for."""
    from grader import lessons  # noqa: PLC0415
    from grader.render import rules as explain  # noqa: PLC0415

    click.echo(explain.render(lessons.find(lesson, folders), rule), nl=False)


@cli.command()
@click.option("--lesson", type=int, required=True, help="The lesson's number.")
@lessons_option
@click.argument("folder", required=False, default=".", type=click.Path(path_type=Path))
def start(*, lesson: int, folders: tuple[str, ...], folder: Path) -> None:
    """Write a student's kit into FOLDER: the starter, the lab, and how to grade. Overwrites nothing."""
    from grader import kit, lessons  # noqa: PLC0415

    for path in kit.write(lessons.find(lesson, folders), folder):
        click.echo(f"wrote {path}")


cli.add_command(bundle)


def _pages_form(number: int, folders: Sequence[str], tests: str) -> Lesson:
    """The lesson that `--harness harness.py --lesson N tests.py` means.

    Raises:
        UsageError: `tests` is neither a kit's stand-in nor a lesson folder.
    """
    from grader import kit, lessons  # noqa: PLC0415

    path = Path(tests)
    if path.is_dir():
        return lessons.load(path)
    if not kit.stands_for_builtin(path):
        raise UsageError(
            f"{tests} is not this lab's tests.py, and not a lesson folder.",
            help="Hidden tests of your own are a folder with lesson.toml, scenes.py and one"
            " test_*.py; name that folder here. CONTRIBUTING.md shows a small one.",
        )
    return lessons.find(number, folders)


def _limits(timeout: float | None) -> Limits:
    from grader.records import Limits  # noqa: PLC0415

    if timeout is None:
        return Limits()
    if timeout <= 0:
        raise UsageError("--timeout takes a number of seconds above 0.")
    return Limits(total_s=timeout)


def _status(report: Report, fail_under: int | None) -> Exit:
    if report.verdict == "error":
        return Exit.GRADER
    if fail_under is not None:
        return Exit.PASSED if report.score.points >= fail_under else Exit.NOT_PASSED
    return Exit.PASSED if report.verdict == "pass" else Exit.NOT_PASSED


def _told(exc: LabCheckError) -> Exit:
    warn(exc.message + (f"\n{exc.help}" if exc.help else ""))
    return Exit.GRADER if isinstance(exc, (LessonError, RoomError, StoreError)) else Exit.USAGE


def main(args: Sequence[str] | None = None) -> None:
    """The console script: runs a command and turns whatever happens into an exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # whatever the code page: a report can be printed
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _terminated)
    try:
        status: int = _run(args)
    except KeyboardInterrupt:
        warn("interrupted")
        status = Exit.INTERRUPTED
    except BrokenPipeError:  # `lab_check … | head`: nobody is left to read
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = Exit.USAGE
    except Exception as exc:
        if os.environ.get("LAB_CHECK_DEBUG"):
            raise
        warn(
            f"a fault of its own: {type(exc).__name__}: {exc}\n"
            "There is no verdict, and nothing is held against the submission. Please report this;"
            " with LAB_CHECK_DEBUG=1 the same command shows where it happened."
        )
        status = Exit.GRADER
    sys.exit(status)


def _run(args: Sequence[str] | None) -> int:
    try:
        cli.main(args=None if args is None else list(args), standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as exc:
        exc.show()
        option = getattr(exc, "option_name", "") or ""
        files = [arg for arg in args or sys.argv[1:] if arg.startswith("-") and Path(arg).is_file()]
        if option and files:
            warn(f"to name the file {files[0]}, write ./{files[0]}")
        return Exit.USAGE
    except click.Abort as exc:
        raise KeyboardInterrupt from exc
    except LabCheckError as exc:
        return _told(exc)
    except SystemExit as exc:
        sys.stdout.flush()
        return exc.code if isinstance(exc.code, int) else Exit.PASSED
    return Exit.PASSED


def _terminated(_signal: int, _frame: object) -> None:
    raise SystemExit(Exit.TERMINATED)
