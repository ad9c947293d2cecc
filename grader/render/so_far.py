"""What a harness can do so far: every lesson there is, as a list of promises kept and not kept."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from grader.render.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.records import Report

_MARKS = {"pass": "  ok  ", "fail": "  -   ", "not_run": "  -   ", "error": "  ?   "}


def render(reports: Sequence[Report], *, quiet: bool = False) -> str:
    """A list, one part a lesson, that ends in a line with how many lessons are done.

    Args:
        reports: one of each lesson, about the same submission, in order.
        quiet: whether a line a lesson is enough.
    """
    done = sum(report.verdict == "pass" for report in reports)
    last = f"{done} of {len(reports)} lessons passed\n"
    if quiet:
        told = [_head(report) for report in reports]
        problems = (report.problem.message for report in reports if report.problem is not None)
        told += [_wrapped("", one_line(each)) for each in dict.fromkeys(problems)]
        return "".join(f"{line}\n" for line in told) + last
    name = (one_line(reports[0].submission.name) if reports else "") or "harness.py"
    parts = [f"What {name} can do so far\n"]
    parts += [_lesson(report) for report in reports]
    return "\n".join([*parts, last])


def _head(report: Report) -> str:
    score = f"{report.score.points} of {report.score.max_points}"
    return f"Lesson {report.lesson.number}: {one_line(report.lesson.title)} - {score}"


def _lesson(report: Report) -> str:
    lines = [_head(report)]
    if report.problem is not None:
        return "\n".join([*lines, _wrapped("  ", one_line(report.problem.message))]) + "\n"
    for test in report.tests:
        about = test.title if test.outcome == "pass" else f"{test.title} ({test.id})"
        lines.append(_wrapped(_MARKS[test.outcome], about))
    if report.verdict == "error":
        lines.append("  There is no verdict on this lesson: the grader failed, not your file.")
    return "\n".join(lines) + "\n"


def _wrapped(lead: str, text: str) -> str:
    return textwrap.fill(
        text,
        80,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_on_hyphens=False,
    )
