"""Every right answer passes, however it is written; no starter is an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader import grade, lessons
from grader.records import Report

HERE = Path(__file__).parent
RIGHT = sorted((HERE / "solutions").glob("lesson_*/*.py"))
GRADED = [path for path in RIGHT if int(path.parent.name[-2:]) in lessons.folders()]


@pytest.mark.parametrize("path", GRADED, ids=[f"{p.parent.name}/{p.stem}" for p in GRADED])
def test_a_right_answer_passes(path: Path, grade_locally: Callable[..., Report]) -> None:
    report = grade_locally(path, int(path.parent.name[-2:]))
    told = [(t.id, t.outcome, t.message) for t in report.tests if t.outcome != "pass"]
    assert (told, report.verdict, report.problem) == ([], "pass", None)


@pytest.mark.parametrize("number", lessons.folders())
def test_a_starter_is_judged_test_by_test(number: int) -> None:
    lesson = lessons.find(number)
    assert lesson.starter is not None
    report = grade(lesson.starter, lesson=number)
    assert report.verdict == "fail"
    assert {t.outcome for t in report.tests} <= {"pass", "fail"}
    assert all(t.rule.id in lesson.rules for t in report.tests)
