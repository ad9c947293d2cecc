"""The command line: the commands, and an exit status for whatever happens. No logic of its own."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from grader import __version__
from grader.bundle.command import bundle
from grader.commands.batch import batch
from grader.commands.containers import doctor, image
from grader.commands.grade import grade
from grader.commands.lessons import demo, hint, list_lessons, rules, start
from grader.commands.shared import Exit, warn
from grader.errors import LabCheckError, LessonError, RoomError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence


class DefaultGroup(click.Group):
    """A group whose commands may be left out: what names none of them is meant for `grade`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `grade` in front where no command is named."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "--version", "-h"):
            args = ["grade", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What may come first: a command, an option of `grade`, or a file to grade."""
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            meant = click.Context(grade, parent=ctx, info_name="grade", resilient_parsing=True)
            return found + grade.shell_complete(meant, incomplete)
        return found or [CompletionItem(incomplete, type="file")]


@click.group(
    cls=DefaultGroup,
    # `grade` has its options as LAB_CHECK_OPTION, every other command as LAB_CHECK_COMMAND_OPTION.
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "LAB_CHECK"},
)
@click.version_option(__version__, prog_name="lab_check", allow_from_autoenv=False)
def cli() -> None:
    """Grade one lesson's lab: `lab_check --lesson 10 harness.py`.

    Without a command, `grade` is meant: `lab_check grade --help` has its options. Exit status: 0 every
    test passed, 1 the submission did not pass, 2 the call is off, 3 the grader failed and there is no
    verdict, 130 interrupted.
    """


for _command in (grade, demo, hint, list_lessons, rules, start, batch, image, doctor, bundle):
    cli.add_command(_command)


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
        cli.main(
            args=None if args is None else list(args), prog_name="lab_check", standalone_mode=False
        )
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
