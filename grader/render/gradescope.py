"""The report as Gradescope's results.json, which an autograder leaves in /autograder/results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grader.render.details import as_text, cause, details, heading, standing, title
from grader.render.escaping import clip, visible

if TYPE_CHECKING:
    from grader.records import Report, TestResult

_SIZE = 20_000  # characters of one text


def render(report: Report) -> str:
    """The score, and a block a test that the student opens.

    A report without a verdict carries no score at all, neither in all nor by test: Gradescope then says
    that the autograder failed, and the student's earlier score stands.
    """
    ours = report.verdict == "error"
    result: dict[str, Any] = {} if ours else {"score": report.score.points}
    result |= {
        "execution_time": round(max(report.duration_s, 0.0), 3),
        "output": _output(report),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {
            "verdict": report.verdict,
            "submission_sha256": report.submission.sha256,
            "tests_sha256": report.grader.tests_sha256,
            "grader_version": report.grader.version,
            "seed": report.grader.seed,
        },
        "tests": [_test(test, scored=not ours) for test in report.tests],
    }
    return json.dumps(result, indent=2) + "\n"


def _output(report: Report) -> str:
    parts = [title(report), standing(report)]
    reason = cause(report)
    if reason is not None:
        parts += ["", reason.message, reason.help]
    parts += [note for note in report.notes if reason is None or note not in reason.message]
    return visible("\n".join(clip(part, _SIZE) for part in parts)).strip()


def _test(test: TestResult, *, scored: bool) -> dict[str, Any]:
    points = {"score": test.points, "max_score": test.max_points} if scored else {}
    status = {} if test.outcome == "error" else {"status": _status(test)}
    wrong = test.wrong_answer
    return {
        **points,
        **status,
        "name": heading(test),
        "number": str(test.number),
        "output": as_text(details(test), _SIZE),
        "visibility": "visible",
        "extra_data": {
            "id": test.id,
            "outcome": test.outcome,
            "kind": test.kind,
            "rule": test.rule.id,
            "wrong_answer": None if wrong is None else wrong.id,
        },
    }


def _status(test: TestResult) -> str:
    return "passed" if test.outcome == "pass" else "failed"
