"""A judge that has seen a test pass has its scenes played ahead for the next submission: same reports, fewer frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits, Report
from grader.rooms.process import ProcessRooms
from grader.staging import Stage
from grader.submission import from_bytes
from tests.test_grading import SOLUTION
from tests.test_sharing import told

LESSON = lessons.find(10)
TESTS = ["missing_result", "orphan_result", "walk_away_recovers"]
LIMITS = Limits(scene_cpu_s=1, scene_wall_s=20.0, hurried_wall_s=0.5)
RIGHT = "\n_right = repair_tool_history\ndef repair_tool_history(messages):\n    {}\n    return _right(messages)\n"


@pytest.fixture
def judge() -> Iterator[Judge]:
    """A judge that has seen a right answer."""
    with closing(Judge(ProcessRooms(), LESSON, LIMITS)) as warm:
        assert graded("", warm).verdict == "pass"
        yield warm


def graded(extra: str, judge: Judge | None, **options: Any) -> Report:
    options = {"tests": TESTS, "limits": LIMITS, **options}
    return grade(from_bytes((SOLUTION + extra).encode()), LESSON, judge=judge, **options)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What stages are asked from here on."""
    asked: list[dict[str, Any]] = []
    do = Stage.do

    def noting(self: Stage, op: str, **values: Any) -> dict[str, Any]:
        asked.append({"op": op, **values})
        return do(self, op, **values)

    monkeypatch.setattr(Stage, "do", noting)
    return asked


def test_a_test_that_is_known_takes_one_job_and_its_end(
    judge: Judge, jobs: list[dict[str, Any]]
) -> None:
    assert told(graded("", judge)) == told(graded("", None))
    first = jobs[: next(i for i, job in enumerate(jobs) if job["op"] == "load" and i)]
    assert [job["op"] for job in first] == ["load", *["play", "finish"] * len(TESTS)]
    assert len(first[1]["ahead"]) > 3


def test_with_another_seed_nothing_is_known(judge: Judge, jobs: list[dict[str, Any]]) -> None:
    assert told(graded("", judge, seed=8)) == told(graded("", None, seed=8))
    assert not any(job.get("ahead") for job in jobs)
    assert graded("", judge, seed=8).verdict == "pass"
    assert any(job.get("ahead") for job in jobs)


def test_a_test_that_failed_is_not_known(jobs: list[dict[str, Any]]) -> None:
    with closing(Judge(ProcessRooms(), LESSON, LIMITS)) as cold:
        assert graded(RIGHT.format("return []"), cold).verdict == "fail"
        jobs.clear()
        assert graded("", cold).verdict == "pass"
    assert not any(job.get("ahead") for job in jobs)


@pytest.mark.parametrize(
    "does",
    [
        "if len(messages) == 6: return []",
        "if len(messages) == 6: raise KeyError('c1')",
        "if len(messages) == 6: import os; os._exit(0)",
        "if len(messages) == 6: import os; os.write(3, b'x' * 9)",
        "if len(messages) == 6: return ['x' * 10 ** 6] * 3",
        "if len(messages) == 6: return [[messages] * 9] * 999",
        "print('seen', len(messages))",
        "import sys; sys.stdout.write('x')",
    ],
)
def test_the_report_is_the_same_whatever_the_submission_does(judge: Judge, does: str) -> None:
    assert told(graded(RIGHT.format(does), judge)) == told(graded(RIGHT.format(does), None))


def test_what_hangs_further_on_has_its_time_alone(judge: Judge) -> None:
    limits = LIMITS._replace(scene_wall_s=2.0, patience=9)
    does = RIGHT.format("if len(messages) == 6: import time; time.sleep(60)")
    report = graded(does, judge, limits=limits)
    assert told(report) == told(graded(does, None, limits=limits))
    assert [t.kind for t in report.tests] == ["timeout", None, None]
    assert "within 2 s" in report.tests[0].message


def test_a_test_that_asks_for_something_else_is_played_as_it_asks(judge: Judge) -> None:
    scripts = judge._scripts._known
    first = scripts["missing_result"]
    first[2], first[3] = first[3], first[2]
    del scripts["orphan_result"][1:]
    scripts["walk_away_recovers"].append({"scene": "constant", "given": {"name": "SYSTEM"}})
    assert told(graded("", judge)) == told(graded("", None))


FORGING = """
import json, os, struct
def repair_tool_history(messages):
    body = json.dumps({}).encode()
    os.write(3, struct.pack(">I", len(body)) + body)
    os._exit(0)
"""


@pytest.mark.parametrize(
    "answer",
    [
        '{"observations": [[], []]}',
        '{"observations": [[], {}, 1, None, "x", []]}',
        '{"observations": []}',
        '{"observations": {}}',
        '{"observation": [], "ahead": [1]}',
        '{"observation": []}',
    ],
)
def test_an_answer_to_what_was_not_asked_is_the_submissions_own_failure(
    judge: Judge, answer: str
) -> None:
    """Asked for one scene or for several; it never breaks a hidden test, which would be our fault."""
    forged = FORGING.replace("json.dumps({})", repr(answer.replace("None", "null")))
    alone, known = graded(forged, None), graded(forged, judge)
    assert told(alone) == told(known)
    assert [t.outcome for t in alone.tests] == ["fail"] * len(TESTS)


LOOKING = """
import gc
gc.unfreeze()
_right = repair_tool_history


def repair_tool_history(messages):
    for found in gc.get_objects():
        if type(found) is list and found[:1] == messages[:1] != [] and found != messages:
            return found
    return _right(messages)
"""


@pytest.mark.parametrize("known", [False, True])
def test_what_other_scenes_are_given_is_not_in_the_process_of_one(known: bool) -> None:
    """Several scenes of this test begin with one message. Whoever finds another transcript hands that back."""
    options: dict[str, Any] = {"tests": ["valid_transcript_unchanged"]}
    with closing(Judge(ProcessRooms(), LESSON, LIMITS)) as judge:
        if known:
            assert graded("", judge, **options).verdict == "pass"
        assert graded(LOOKING, judge, **options).verdict == "pass"
