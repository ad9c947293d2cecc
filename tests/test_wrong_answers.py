"""Every wrong idea fails the tests that it must, no other, and is called by its name.

A wrong answer is a few find-and-replace edits of the solution, kept in wrong_answers/lesson_NN.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.records import Report
from grader.submission import from_bytes
from tests.wrong_answers.table import edited

COLUMNS, LINES = 104, 45  # of a replay, which somebody is to read
HERE = Path(__file__).parent
FILES = sorted((HERE / "wrong_answers").glob("lesson_*.toml"))
WRONG = [
    (int(path.stem[-2:]), entry)
    for path in FILES
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["wrong"]
]


@pytest.mark.parametrize(("lesson", "entry"), WRONG, ids=[f"{n}-{e['name']}" for n, e in WRONG])
def test_a_wrong_answer_fails_what_it_must(
    lesson: int, entry: dict[str, Any], grade_locally: Callable[..., Report]
) -> None:
    report = grade_locally(from_bytes(edited(lesson, entry).encode()), lesson)
    failed = [t for t in report.tests if t.outcome == "fail"]
    assert (sorted(t.id for t in failed), report.verdict) == (sorted(entry["fails"]), "fail")
    assert not [t.id for t in report.tests if t.outcome in ("error", "not_run")]
    for test in failed:
        assert all((test.given, test.observed, test.hint, test.replay)), test.id
        assert test.kind != "rule" or test.expected or test.diff, test.id
        assert all(len(line) <= COLUMNS for line in test.replay.split("\n")), test.id
        assert test.replay.count("\n") <= LINES, test.id
    named = {t.wrong_answer.id for t in failed if t.wrong_answer}
    if "named" in entry:
        assert {entry["named"], *entry.get("also_named", [])} <= named
    else:
        assert named <= set(entry.get("may_be_named", []))
