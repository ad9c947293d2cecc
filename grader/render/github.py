"""The report for a GitHub Actions log: annotations on the student's lines, the report as text, fenced.

What a submission printed may read `::error::…`, and the runner obeys such lines wherever they stand. So
our annotations come first, and all else is put between `::stop-commands::TOKEN` and `::TOKEN::`.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from grader.records import to_json
from grader.render import markdown, text
from grader.render.causes import groups, happened
from grader.render.details import cause, heading, short, standing, title
from grader.render.escaping import clip, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.records import Report, TestResult
    from grader.render.details import Cause

ANNOTATIONS = 10  # of a kind; GitHub shows no more from one step
SUMMARY = (
    1_000_000  # bytes; a step's summary may have 1,024 kB, and others may write to the file, too
)
_MESSAGE = 2_000  # characters


def render(report: Report, *, path: str | None = None) -> str:
    """Annotations, then the text report in a fence.

    Args:
        report: what to tell.
        path: where the submission is, from the root of the repository, so that an annotation finds its
            line; without it, the submission's name.
    """
    file = short(path or report.submission.name)
    notice = _command("notice", title(report), standing(report))
    fenced = visible(text.render(report))
    token = _token(report, fenced)
    lines = [*_errors(report, file), *_warnings(report, file), notice]
    return "\n".join([*lines, f"::stop-commands::{token}", f"{fenced}::{token}::"]) + "\n"


def summary(report: Report) -> str:
    """The job summary: Markdown to append to the file that GITHUB_STEP_SUMMARY names."""
    return markdown.fitting(report, SUMMARY)


def _errors(report: Report, file: str) -> list[str]:
    reason = cause(report)
    if reason is not None and not reason.ours:
        return [_of_cause("error", reason, file)]
    failed = [group for group in groups(report.tests) if group[0].outcome == "fail"]
    return _at_most(failed, "error", file)


def _warnings(report: Report, file: str) -> list[str]:
    reason = cause(report)
    if reason is not None and reason.ours:
        return [_of_cause("warning", reason, file)]
    ours = [group for group in groups(report.tests) if group[0].outcome == "error"]
    return _at_most(ours, "warning", file)


def _at_most(found: list[list[TestResult]], kind: str, file: str) -> list[str]:
    shown = found if len(found) <= ANNOTATIONS else found[: ANNOTATIONS - 1]
    lines = [_of_group(kind, group, file) for group in shown]
    rest = [test for group in found[len(shown) :] for test in group]
    if rest:
        lines.append(_command(kind, f"{len(rest)} more", f"{_names(rest)}: told in the log."))
    return lines


def _of_group(kind: str, group: list[TestResult], file: str) -> str:
    first = group[0]
    name = heading(first) if len(group) == 1 else f"{len(group)} tests: {_names(group)}"
    parts = [first.message if len(group) == 1 else happened(first)]
    if first.wrong_answer is not None:
        parts.append(f"Looks like {first.wrong_answer.id}: {first.wrong_answer.text}")
    else:
        parts.append(first.hint)
    message = "\n".join(part for part in parts if part)
    line = None if first.location is None else first.location.line
    return _command(kind, name, message, file, line)


def _of_cause(kind: str, reason: Cause, file: str) -> str:
    message = "\n".join(part for part in (reason.message, reason.help) if part)
    return _command(kind, reason.kind.replace("_", " "), message, file, reason.line)


def _names(tests: Iterable[TestResult]) -> str:
    return short(", ".join(one_line(test.id) for test in tests))


def _command(kind: str, name: str, message: str, file: str = "", line: int | None = None) -> str:
    properties = {
        "file": file,
        "line": "" if line is None or line < 1 else str(line),
        "title": name,
    }
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{kind} {given}::{_data(visible(clip(message, _MESSAGE)))}"


def _data(value: str) -> str:
    """A value after the second `::`. The runner takes a command to the end of its line."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def _token(report: Report, fenced: str) -> str:
    """A word that ends the fence and is not in it.

    It is drawn from the whole report, which has the time, every test's duration and all that was
    printed in it: to print the token, a submission would have to foresee a hash of what it prints.
    """
    seed = json.dumps(to_json(report)).encode()
    token = hashlib.sha256(seed).hexdigest()
    while token in fenced.casefold():  # the runner compares without case
        token = hashlib.sha256(token.encode() + seed).hexdigest()
    return token
