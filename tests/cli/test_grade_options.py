"""What a student types every day: only what failed, stop at the first, more words and fewer."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from grader import grade, lessons
from grader.grading import BreakOffError
from grader.judging import Judge
from grader.records import Limits
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes
from tests.cli.calling import RIGHT, WRONG, Call


@pytest.fixture
def harness(tmp_path: Path) -> Path:
    path = tmp_path / "harness.py"
    path.write_text(WRONG, encoding="utf-8")
    return path


# --- --failed --------------------------------------------------------------------------------------


def test_only_what_failed_last_time(call: Call, harness: Path) -> None:
    first = json.loads(call.grade("--format", "json", harness).out)
    failed = [test["id"] for test in first["tests"] if test["outcome"] != "pass"]
    assert failed
    again = json.loads(call.grade("--failed", "--format", "json", harness).out)
    assert [test["id"] for test in again["tests"]] == failed

    harness.write_bytes(RIGHT.read_bytes())
    mended = call.grade("--failed", harness)
    assert (mended.status, mended.score) == (0, f"{len(failed)} of {len(failed)} points - passed")
    everything = call.grade("--failed", harness)
    assert everything.score == "14 of 14 points - passed"
    assert "no failure is remembered" in everything.err


def test_a_run_of_some_tests_leaves_what_is_known_of_the_others(call: Call, harness: Path) -> None:
    call.grade(harness)
    assert call.grade("--test", "missing_result", harness).status == 0
    assert "duplicate_result" in call.grade("--failed", harness).out


def test_another_file_has_a_memory_of_its_own(call: Call, harness: Path) -> None:
    call.grade(harness)
    assert "no failure is remembered" in call.grade("--failed", RIGHT).err
    assert (
        "no failure" not in call.grade("--failed", harness.parent / "x" / ".." / harness.name).err
    )


@pytest.mark.parametrize("where", ["nowhere", "pipeline", "cut", "another shape", "list"])
def test_nothing_depends_on_what_is_remembered(
    call: Call, harness: Path, state: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "nowhere":
        monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    elif where == "pipeline":
        monkeypatch.setenv("CI", "true")
    call.grade("--test", "duplicate_result", harness)
    damaged = {"cut": b'{"failed": [', "another shape": b'{"failed": 3}', "list": b"[3]"}
    if where in damaged:
        (path,) = state.iterdir()
        path.write_bytes(damaged[where])
    else:
        assert not state.exists()
    done = call.grade("--failed", harness)
    assert (done.status, done.score) == (1, "9 of 14 points - not passed")
    assert "no failure is remembered" in done.err


# --- -x --------------------------------------------------------------------------------------------


def test_the_first_failure_is_the_last_test_that_is_run(call: Call, harness: Path) -> None:
    report = json.loads(call.grade("-x", "--format", "json", harness).out)
    outcomes = [test["outcome"] for test in report["tests"]]
    at = outcomes.index("fail")
    assert outcomes == ["pass"] * at + ["fail"] + ["not_run"] * (13 - at)
    reason = f"Stopped at the first failure, {report['tests'][at]['id']}, as --exitfirst asks."
    assert (report["verdict"], report["notes"][0]) == ("fail", reason)
    assert report["tests"][-1]["message"] == f"Not run: {reason}"
    assert call.grade("-x", RIGHT).status == 0


def test_after_a_run_that_was_broken_off_the_judge_goes_on() -> None:
    def stop(name: str, outcome: str) -> None:
        told.append((name, outcome))
        if outcome == "fail":
            raise BreakOffError("That will do.")

    lesson, rooms = lessons.find(10), ProcessRooms()
    judge = Judge(rooms, lesson, Limits())
    began = time.monotonic()
    for source, count in ((WRONG, 4), (RIGHT.read_text(encoding="utf-8"), 14), (WRONG, 4)):
        told: list[tuple[str, str]] = []
        report = grade(
            from_bytes(source.encode()), lesson, rooms=rooms, judge=judge, on_result=stop
        )
        assert len(told) == count
        assert [test.id for test in report.tests[:count]] == [name for name, _ in told]
    judge.close()
    assert time.monotonic() - began < 5


def test_a_failure_of_the_last_test_breaks_nothing_off(call: Call, harness: Path) -> None:
    report = json.loads(
        call.grade("-x", "--test", "duplicate_result", "--format", "json", harness).out
    )
    assert [test["outcome"] for test in report["tests"]] == ["fail"]
    assert report["notes"] == []


# --- words -----------------------------------------------------------------------------------------


def test_explain_tells_a_broken_rule_in_full(call: Call, harness: Path) -> None:
    out = call.grade("--explain", "--test", "duplicate_result", harness).out
    rule = lessons.find(10).rules["first-result-wins"]
    assert all(f"{wrong.id}: " in out for wrong in rule.wrong_answers)
    assert "others said" not in call.grade("--test", "duplicate_result", harness).out


def test_explain_tells_each_rule_of_several_that_failed_together(call: Call, harness: Path) -> None:
    harness.write_text("x = 1\n", encoding="utf-8")
    lesson = lessons.find(10)
    told = " ".join(call.grade("--explain", harness).out.split())
    for test in lesson.tests:
        assert told.count(" ".join(test.rule.text.split())) == 1
        assert " ".join(test.rule.why.split()) in told
        for wrong in test.rule.wrong_answers:
            assert " ".join(f"{wrong.id}: {wrong.text}".split()) in told
    assert "lab_check rules" not in told


def test_what_is_typed_on_how_much_to_tell_goes_before_what_is_set(
    call: Call, harness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = ("--test", "duplicate_result", harness)
    monkeypatch.setenv("LAB_CHECK_EXPLAIN", "1")
    assert call.grade("-q", *some).out.count("\n") == 2
    assert "others said" in call.grade(*some).out
    monkeypatch.setenv("LAB_CHECK_QUIET", "1")
    assert "others said" in call.grade("--explain", *some).out
    assert call.grade(*some).status == 2
    monkeypatch.delenv("LAB_CHECK_QUIET")
    assert call("--lesson", "all", "--runner", "local", RIGHT).status == 0


def test_quiet_names_what_failed_and_the_score(call: Call, harness: Path) -> None:
    some = ("--test", "late_result", "--test", "duplicate_result", "--test", "walk_away_recovers")
    assert call.grade("-q", *some, harness).out.splitlines() == [
        "FAILED   4  duplicate_result",
        "FAILED  12  walk_away_recovers",
        "1 of 3 points - not passed",
    ]
    assert call.grade("-q", "-x", *some, harness).out.splitlines()[1] == "not run: 1"
    assert call.grade("-q", *some, RIGHT).out == "3 of 3 points - passed\n"
    harness.write_text("def f(:", encoding="utf-8")
    assert call.grade("-q", harness).out.startswith("Line 1 is not Python")


def test_verbose_tells_what_passed_and_with_what(call: Call) -> None:
    out = call.grade("-v", "--test", "late_result", "--seed", "5", RIGHT).out
    assert "A result that comes too late is moved up, not replaced" in out
    assert "  seed        5" in out
    assert "  runner      local" in out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--failed", "--test", "late_result", "x.py"), "--test and --failed"),
        (("-v", "-q", "x.py"), "--verbose and --quiet"),
        (("--explain", "-q", "x.py"), "--explain and --quiet"),
        (("--failed", "-"), "--failed and standard input"),
        (("--watch", "-"), "--watch and standard input"),
        (("--watch", "--format", "json", "x.py"), "--watch and --format"),
        (("-q", "--format", "json", "x.py"), "about the text report"),
        (("--lesson", "all", "--watch", "x.py"), "--watch and --lesson all"),
        (("--lesson", "all", "--test", "late_result", "x.py"), "--lesson all and --test"),
        (("--lesson", "all", "--fail-under", "3", "x.py"), "--lesson all and --fail-under"),
        (("--lesson", "all", "--explain", "x.py"), "--lesson all and --explain"),
        (("--lesson", "all", "-v", "x.py"), "--lesson all and --verbose"),
        (("--lesson", "every", "x.py"), "neither a lesson's number nor the word all"),
    ],
)
def test_options_that_are_at_odds(call: Call, args: tuple[str, ...], says: str) -> None:
    done = call.grade(*args)
    assert done.status == 2
    assert says in done.err


# --- --lesson all ----------------------------------------------------------------------------------


def test_every_lesson_as_a_list(call: Call) -> None:
    solution = RIGHT.parent.parent / "lesson_09" / "harness.py"
    done = call("--lesson", "all", "--runner", "local", solution)
    assert done.status == 1
    assert done.out.startswith("What harness.py can do so far\n")
    assert "Lesson 7: Show your work - 12 of 12\n  ok  " in done.out
    assert "(missing_result)" in done.out
    assert done.out.endswith("2 of 3 lessons passed\n")
    assert "\x1b" not in done.out


def test_every_lesson_of_a_file_that_is_none(call: Call, tmp_path: Path) -> None:
    done = call("--lesson", "all", "--runner", "local", tmp_path / "harness.py")
    assert done.status == 1
    assert done.out.count("There is no file") == 3
