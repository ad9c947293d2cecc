"""The report as the results.json of a PrairieLearn external grader."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grader.render.details import as_text, cause, details, short, standing, title
from grader.render.escaping import clip, fit, visible

if TYPE_CHECKING:
    from grader.records import Report, TestResult

LIMIT = 1_000_000  # bytes


def render(report: Report) -> str:
    """A score between 0 and 1, and the tests.

    A file that can't be loaded, and a report without a verdict, are not gradable: that costs no attempt.
    """
    return fit(lambda size: json.dumps(_results(report, size), indent=2) + "\n", LIMIT)


def _results(report: Report, size: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "gradable": report.problem is None and report.verdict != "error",
        "message": f"{title(report)}\n{standing(report)}",
        "output": _output(report, size or 1_000),
    }
    if result["gradable"]:
        most = report.score.max_points
        result["score"] = min(max(report.score.points / most, 0.0), 1.0) if most > 0 else 0.0
        result["tests"] = [_test(test, size) for test in report.tests]
    return result


def _output(report: Report, size: int) -> str:
    parts = list(report.notes)
    reason = cause(report)
    if reason is not None:
        parts = [reason.message, reason.help, *(n for n in parts if n not in reason.message)]
    return "\n".join(visible(clip(part, size)) for part in parts if part)


def _test(test: TestResult, size: int) -> dict[str, Any]:
    found = [detail for detail in details(test) if detail.label != "printed"]
    return {
        "name": short(test.id),
        "description": short(test.title),
        "points": test.points,
        "max_points": test.max_points,
        "message": as_text(found, size) if size else "",
        "output": visible(clip(test.stdout, size)),
    }
