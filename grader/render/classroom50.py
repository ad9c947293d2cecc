"""The report as Classroom 50's result.json, the open successor of GitHub Classroom."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.render.details import moment, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.records import Report

SCHEMA = "classroom50/result/v1"


def render(report: Report, *, environ: Mapping[str, str] | None = None) -> str:
    """The scores; whole numbers only.

    Args:
        report: what to tell.
        environ: where the variables of Classroom 50's runner are (CLASSROOM, ASSIGNMENT, SUBMISSION_TAG,
            COMMIT_URL, RELEASE_URL, REVIEW_URL). What is not in it is left empty.
    """
    given = environ or {}
    tests = [
        {
            "test-name": short(test.id),
            "passed": test.outcome == "pass",
            "score": test.points,
            "max-score": test.max_points,
        }
        for test in report.tests
    ]
    commit = given.get("COMMIT_URL", "")
    result = {
        "schema": SCHEMA,
        "classroom": given.get("CLASSROOM", ""),
        "assignment": given.get("ASSIGNMENT", ""),
        "submission": given.get("SUBMISSION_TAG", ""),
        "commit": commit,
        "release": given.get("RELEASE_URL", ""),
        "review": given.get("REVIEW_URL") or commit,
        "datetime": moment(report) + "Z",
        "score": report.score.points,
        "max-score": report.score.max_points,
        "tests": tests,
    }
    return json.dumps(result, indent=2) + "\n"
