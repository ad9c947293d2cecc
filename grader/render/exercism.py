"""The report as a results.json of Exercism's test runner interface, version 3."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grader.render.details import as_text, cause, details, heading, standing
from grader.render.escaping import clip, clip_bytes, visible

if TYPE_CHECKING:
    from grader.records import Report, TestResult

MESSAGE = (
    65_535  # bytes; characters are what the interface says, less where one takes several bytes
)
OUTPUT = 500  # characters
_SIZE = 20_000
_TRUNCATED = "\nOutput was truncated. Please limit to 500 chars"


def render(report: Report) -> str:
    """The tests in their order; `error` where the file can't be loaded or there is no verdict."""
    reason = cause(report)
    result: dict[str, Any] = {"version": 3}
    if report.problem is not None or report.verdict == "error":
        told = [standing(report), *report.notes]
        if reason is not None:
            told = [reason.message, reason.help]
        text = visible("\n\n".join(part for part in told if part))
        result |= {"status": "error", "message": clip_bytes(text, MESSAGE)}
    else:
        tests = [_test(test) for test in report.tests]
        result |= {"status": report.verdict, "message": None, "tests": tests}
    return json.dumps(result, indent=2) + "\n"


def _test(test: TestResult) -> dict[str, Any]:
    status = {"pass": "pass", "fail": "fail"}.get(test.outcome, "error")
    # What was printed has a field of its own here, and so has what to run.
    found = [d for d in details(test) if d.label not in ("printed", "see it happen")]
    result: dict[str, Any] = {"name": heading(test), "status": status}
    if found:
        result["message"] = clip_bytes(as_text(found, _SIZE), MESSAGE)
    if test.stdout.strip():
        result["output"] = _output(visible(test.stdout))
    if test.replay.strip():
        result["test_code"] = visible(clip(test.replay, _SIZE))
    return result


def _output(text: str) -> str:
    return text if len(text) <= OUTPUT else text[: OUTPUT - len(_TRUNCATED)] + _TRUNCATED
