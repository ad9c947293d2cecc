"""Where reports go: standard output, files, and the summary of a GitHub Actions job."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.render import renderer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grader.records import Report, Rule

    Render = Callable[[Report], str]


class Output:
    """What a command was asked to write, checked before anything is graded.

    Args:
        form: the format of standard output.
        reports: pairs of a format and a path.
        submission: as it was typed; annotations name it.
        explain: the lesson's rules, if the text is to tell them in full; see `render.fuller`.
        verbosity: below 0 for less text, above it for more.

    Raises:
        UsageError: a format that isn't there, or two reports to one path.
    """

    def __init__(
        self,
        form: str,
        reports: Sequence[tuple[str, Path]],
        submission: str,
        *,
        explain: Mapping[str, Rule] | None = None,
        verbosity: int = 0,
    ) -> None:
        if form == "text":
            self._stdout = _text(explain, verbosity)
        elif explain is not None or verbosity:
            raise UsageError(
                "--explain, -v and -q are about the text report.", help="Leave out --format."
            )
        else:
            self._stdout = _render(form, submission)
        self._files = [(path, _render(kind, submission)) for kind, path in reports]
        seen: set[Path] = set()
        for path, _ in self._files:
            where = path.resolve()
            if where in seen:
                raise UsageError(
                    f"Two reports would go to {path}.", help="Give each a path of its own."
                )
            seen.add(where)

    def write(self, report: Report) -> None:
        """Write every file, then the job's summary, then standard output.

        Raises:
            UsageError: a file can't be written.
        """
        for path, render in self._files:
            write_whole(path, render(report))
        _add_to_job_summary(report)
        sys.stdout.write(self._stdout(report))
        sys.stdout.flush()


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all, by way of a temporary one beside it.

    Raises:
        UsageError: it can't be written there.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        partial.replace(path)
    except OSError as exc:
        with contextlib.suppress(OSError):  # the folder may not even be there
            partial.unlink(missing_ok=True)
        raise UsageError(f"{path} can't be written: {exc.strerror}.") from exc


def _text(explain: Mapping[str, Rule] | None, verbosity: int) -> Render:
    """The text report, for the terminal that there may be."""
    colour = _colour_is_wanted()
    if explain is None and not verbosity:
        from grader.render import text  # noqa: PLC0415 - only what is used

        return lambda report: text.render(report, colour=colour)
    from grader.render import fuller  # noqa: PLC0415

    return lambda report: fuller.render(report, colour=colour, explain=explain, verbosity=verbosity)


def _render(kind: str, submission: str) -> Render:
    render = renderer(kind)
    if kind == "github":
        from grader.render import github  # noqa: PLC0415

        return lambda report: github.render(report, path=submission)
    if kind == "classroom50":
        from grader.render import classroom50  # noqa: PLC0415

        return lambda report: classroom50.render(report, environ=os.environ)
    return render


def _colour_is_wanted() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _add_to_job_summary(report: Report) -> None:
    """In a GitHub Actions job, put the report on the job's page, without being asked.

    Raises:
        UsageError: the runner's file can't be written.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if os.environ.get("GITHUB_ACTIONS") != "true" or not path:
        return
    from grader.render import github  # noqa: PLC0415

    try:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(github.summary(report))
    except OSError as exc:
        raise UsageError(f"{path} can't be written: {exc.strerror}.") from exc
