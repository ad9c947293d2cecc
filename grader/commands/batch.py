"""`lab_check batch`: a cohort graded in parallel, kept, and gone on with by the same command."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands.shared import Exit, lesson_option, lessons_option, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.batch import BatchResult, Change


_NAMED = 5  # students named in a line; all of them are in the results


class Gradebook(click.ParamType[Any]):
    """PLATFORM=FILE."""

    name = "PLATFORM=FILE"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Path]:
        """The two parts."""
        platform, equals, path = str(value).partition("=")
        if platform not in ("canvas", "moodle") or not (equals and path):
            self.fail(f"{value!r} is neither canvas=FILE nor moodle=FILE", param, ctx)
        return platform, Path(path)


@click.command()
@lesson_option
@click.option(
    "--out", type=click.Path(), required=True, metavar="DIR", help="Where results are kept."
)
@click.option(
    "--runner",
    type=click.Choice(["docker", "local"]),
    default="docker",
    help="Containers, or plain processes for files that you trust.",
)
@click.option(
    "--workers", type=int, metavar="N", help="How many at a time; the processors by default."
)
@click.option(
    "--layout",
    type=click.Choice(["canvas", "moodle", "gradescope", "classroom", "plain"]),
    help="How the sources are laid out, if it is not to be recognised.",
)
@click.option(
    "--attempt",
    type=click.Choice(["latest", "best", "all"]),
    default="latest",
    help="Which of several attempts of one student counts.",
)
@click.option("--roster", type=click.Path(), metavar="FILE.csv", help="Names, and who is missing.")
@click.option("--gradebook", type=Gradebook(), multiple=True, help="Fill the platform's file.")
@click.option("--column", metavar="HEADING", help="Which column of a Canvas gradebook to fill.")
@click.option(
    "--retries", type=int, default=2, help="How often a grading without a verdict is retried."
)
@click.option("--regrade", is_flag=True, help="Grade again what has a verdict already.")
@click.option("--only", multiple=True, metavar="error|fail|STUDENT", help="Grade these only.")
@click.option(
    "--yes", is_flag=True, help="Let changed verdicts replace earlier ones without asking."
)
@click.option(
    "--cluster", metavar="ADDRESS", help="Grade on a Dask cluster: its scheduler's address."
)
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@lessons_option
@click.argument("sources", nargs=-1, required=True, type=click.Path(), metavar="SOURCE...")
def batch(
    *,
    lesson: int,
    out: str,
    runner: str,
    gradebook: tuple[tuple[str, Path], ...],
    roster: str | None,
    yes: bool,
    cluster: str | None,
    workers: int | None,
    quiet: bool,
    folders: tuple[str, ...],
    sources: tuple[str, ...],
    **options: Any,
) -> None:
    """Grade a cohort: SOURCE is a folder, zip, tar or files, as Canvas, Moodle, Gradescope or GitHub give it.

    The same command again goes on where it stopped. Exit status 0 when every submission got a verdict,
    whatever it is.
    """
    from grader import lessons  # noqa: PLC0415 - not for --help
    from grader.batch import grade_cohort  # noqa: PLC0415
    from grader.cohort import progress  # noqa: PLC0415
    from grader.render import cohort as page  # noqa: PLC0415

    if runner == "local":
        warn("plain processes do not keep a stranger's submission from reading your files.")
    chosen = lessons.find(lesson, folders)
    with _where(runner, cluster) as where:
        result = grade_cohort(
            sources,
            chosen,
            out,
            **{"workers": workers, **where},
            **options,
            roster_file=roster,
            gradebook=dict(gradebook),
            confirm=(lambda _: True) if yes else _ask,
            progress=progress.choose(sys.stderr, quiet=quiet),
            page=page.render,
        )
    _tell(result, out)
    raise SystemExit(_status(result))


@contextlib.contextmanager
def _where(runner: str, cluster: str | None) -> Iterator[dict[str, Any]]:
    """Where gradings run, as `grade_cohort` wants to be told."""
    from grader import rooms  # noqa: PLC0415
    from grader.records import Limits  # noqa: PLC0415

    if cluster is None:
        with contextlib.closing(rooms.choose(runner, limits=Limits(), warn=warn)) as chosen:
            yield {"rooms": chosen}
        return
    from grader.batch import FarRooms  # noqa: PLC0415
    from grader.cohort import cluster as clusters  # noqa: PLC0415

    with clusters.executor(cluster) as (executor, threads):
        yield {"rooms": FarRooms(runner), "executor": executor, "workers": threads}


def _ask(changes: Sequence[Change]) -> bool:
    """Whether changed verdicts may replace the earlier ones. Without a terminal nobody says yes."""
    click.echo(f"{_many(len(changes), 'verdict')} would change:")
    for change in changes:
        click.echo(f"  {_line(change)}")
    them = "it" if len(changes) == 1 else "them"
    if not sys.stdin.isatty():
        held = "It is" if them == "it" else "They are"
        click.echo(f"{held} held; the same command with --yes lets {them} count.")
        return False
    return click.confirm(f"Let {them} count?", default=False)


def _line(change: Change) -> str:
    (was, had), (now, has) = change.before, change.after
    tests = ", ".join(f"{name} {before}->{after}" for name, before, after in change.tests)
    return f"{change.student}: {was} {had} -> {now} {has} ({change.reason}){': ' + tests if tests else ''}"


def _tell(result: BatchResult, out: str) -> None:
    for note in result.notes:
        warn(note)
    for change in result.replaced:
        click.echo(f"replaced: {_line(change)}")
    waiting = sum(row.status == "pending" for row in result.rows)
    left = f", {waiting} not graded yet" if waiting else ""
    click.echo(f"{result.graded} graded now, {result.kept} kept from before{left}.")
    for why, count in result.again:
        click.echo(f"{count} graded again: {why}")
    if result.strangers:
        verb = "is" if len(result.strangers) == 1 else "are"
        click.echo(f"{len(result.strangers)} {verb} not on the roster: {_named(result.strangers)}")
    if result.missing:
        click.echo(f"{len(result.missing)} handed in nothing: {_named(result.missing)}")
    if result.errors:
        click.echo(f"{len(result.errors)} without a verdict: {_named(result.errors)}")
    _tell_decided(result)
    click.echo(f"Results are in {out}: {', '.join(path.name for path in result.written)}")
    if result.interrupted:
        warn("interrupted; what was graded stays, and the same command goes on.")


def _tell_decided(result: BatchResult) -> None:
    """Overrides, and how many passed with them: what was told while grading is without."""
    decided = result.decided
    if decided.count:
        graded = [row for row in result.rows if row.counts and row.status == "graded"]
        passed = sum(row.verdict == "pass" for row in graded)
        click.echo(
            f"{_many(decided.count, 'override')} applied: {_named(decided.applied)};"
            f" with {'it' if decided.count == 1 else 'them'} {passed} passed, {len(graded) - passed} did not."
        )
    if decided.withdrawn:
        click.echo(f"Overrides withdrawn: {_named(decided.withdrawn)}")


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _named(students: Sequence[str]) -> str:
    """The first few of them."""
    more = len(students) - _NAMED
    return ", ".join(students[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _status(result: BatchResult) -> Exit:
    if result.interrupted:
        return Exit.INTERRUPTED
    return Exit.PASSED if result.ok else Exit.GRADER
