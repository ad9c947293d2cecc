from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.records import Limits, Report, from_json, report_from_json, to_json
from grader.schema import report_schema

DOCS = Path(__file__).parent.parent / "docs"
REPORTS = st.builds(Report)
st.register_type_strategy(float, st.floats(0, 1e6))


@settings(max_examples=60)
@given(REPORTS)
def test_a_report_comes_back_as_it_went(report: Report) -> None:
    report = from_json(Report, {**to_json(report), "schema_version": 1})
    data = json.loads(json.dumps(to_json(report)))
    assert report_from_json(data) == report


@settings(max_examples=30)
@given(REPORTS)
def test_any_report_fits_the_schema(report: Report) -> None:
    data = {**json.loads(json.dumps(to_json(report))), "schema_version": 1}
    jsonschema.validate(data, report_schema())


def test_the_schema_in_docs_is_the_one_that_the_records_give() -> None:
    text = (DOCS / "report.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == report_schema(), (
        "run: python -m grader.schema > docs/report.schema.json"
    )


def test_the_schema_version_comes_first() -> None:
    names = list(report_schema()["properties"])
    assert "schema_version" in names
    report = from_json(Report, MINIMAL)
    assert next(iter(to_json(report))) == "schema_version"


MINIMAL: dict[str, Any] = {
    "schema_version": 1,
    "lesson": {"number": 10, "title": "t"},
    "submission": {"name": "harness.py", "sha256": None, "size": None},
    "grader": {
        "version": "0",
        "tests_sha256": "",
        "image": None,
        "runner": "local",
        "python": None,
        "seed": 7,
        "limits": to_json(Limits()),
    },
    "verdict": "pass",
    "score": {"points": 1, "max_points": 1},
    "started_at": "",
    "duration_s": 0.0,
    "tests": [],
    "problem": None,
}


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"verdict": "maybe"},
        {"unknown": 1},
        {"duration_s": "1"},
        {"score": {"points": True, "max_points": 1}},
        {"score": {"points": 1}},
        {"tests": {}},
        {"problem": {"kind": "bad luck", "message": ""}},
    ],
)
def test_what_is_no_report_is_refused(change: dict[str, Any]) -> None:
    report_from_json(MINIMAL)
    with pytest.raises(ValueError):
        report_from_json({**MINIMAL, **change})
