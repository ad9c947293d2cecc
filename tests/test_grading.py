"""The table of outcomes: what happened, and which outcome, verdict and kind it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader import grade
from grader.errors import RoomError, UsageError, WireError
from grader.grading import seed_of
from grader.records import Limits, Report, to_json
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes

HERE = Path(__file__).parent
SOLUTION = (HERE / "solutions" / "lesson_10" / "harness.py").read_text(encoding="utf-8")
QUICK = Limits(scene_cpu_s=1, scene_wall_s=1.0, hurried_wall_s=0.5)
BELOW = SOLUTION.count("\n") + 2  # the line on which `extra` begins


def graded(extra: str, *, limits: Limits = QUICK, **options: Any) -> Report:
    return grade(from_bytes(f"{SOLUTION}\n{extra}\n".encode()), 10, limits=limits, **options)


def outcomes(report: Report) -> dict[str, str]:
    return {t.id: t.kind or t.outcome for t in report.tests}


# --- what the submission does ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("does", "kind", "says"),
    [
        ("raise KeyError('c1')", "exception", "it raised KeyError: 'c1'"),
        ("raise SystemExit(0)", "exception", "it called sys.exit(0)"),
        ("raise KeyboardInterrupt", "exception", "it raised KeyboardInterrupt"),
        ("import os; os._exit(0)", "crash", "ended the whole program"),
        ("import os; os.kill(os.getpid(), 11)", "crash", "SIGSEGV"),
        ("while True: pass", "timeout", "1 s of processor time"),
        ("import time; time.sleep(60)", "timeout", "did not come back within 4 s"),
        ("return 9 ** 9 ** 9", "timeout", "1 s of processor time"),
        ("return [0] * 10 ** 10", "memory", "out of memory"),
        ("return ['x' * 10 ** 6] * 3", "output", "more than a test can take"),
        ("return nothing_of_that_name", "exception", "NameError"),
        ("import os; os.write(3, b'x' * 9); os._exit(0)", "protocol", "only the grader writes"),
    ],
)
def test_one_test_is_hit_and_the_others_are_judged(does: str, kind: str, says: str) -> None:
    report = graded(
        "_right = repair_tool_history\n"
        "def repair_tool_history(messages):\n"
        f"    if messages and messages[0]['content'] == 'Good morning.':\n        {does}\n"
        "    return _right(messages)",
        tests=["missing_result", "orphan_result", "late_result"],
        limits=Limits(scene_cpu_s=1, scene_wall_s=4),
    )
    got = outcomes(report)
    assert got == {"missing_result": "pass", "orphan_result": kind, "late_result": "pass"}
    assert says in report.tests[1].message
    assert (report.verdict, report.score.points) == ("fail", 2)


def test_the_students_line_and_traceback_are_told_and_nothing_of_ours() -> None:
    report = graded(
        "def helper(x):\n    return x['nope']\ndef repair_tool_history(m):\n    return helper(m[0])"
    )
    first = report.tests[0]
    assert first.traceback == (
        f"harness.py:{BELOW + 3} in repair_tool_history: return helper(m[0])",
        f"harness.py:{BELOW + 1} in helper: return x['nope']",
    )
    assert first.location is not None
    assert first.location.line == BELOW + 1


def test_a_failure_points_at_the_function_of_the_rule() -> None:
    report = graded("def repair_tool_history(messages):\n    return list(messages)")
    location = report.tests[0].location
    assert location is not None
    assert location.line == BELOW


def test_a_missing_name_is_missed_by_the_tests_that_need_it_only() -> None:
    got = outcomes(graded("del INTERRUPTED"))
    assert got["missing_result"] == "missing_name"
    assert got["orphan_result"] == got["duplicate_result"] == "pass"


def test_a_slow_machine_is_told_of() -> None:
    report = graded(
        "import time\ndef repair_tool_history(m):\n    time.sleep(9)",
        tests=["missing_result", "orphan_result", "late_result"],
    )
    assert [t.kind for t in report.tests] == ["timeout"] * 3
    assert "within 1 s" in report.tests[1].message
    assert "within 0.5 s" in report.tests[2].message
    assert "0.5 s each instead of 1" in report.notes[0]


def test_the_whole_time_is_up_and_the_rest_is_not_run() -> None:
    limits = QUICK._replace(total_s=1.2, patience=99)
    report = graded("import time\ndef repair_tool_history(m):\n    time.sleep(9)", limits=limits)
    kinds = [t.kind or t.outcome for t in report.tests]
    assert kinds[:1] == ["timeout"]
    assert kinds[-10:] == ["not_run"] * 10
    assert report.verdict == "fail"
    assert report.notes[0] == "The submission's whole time of 1.2 s was used up."


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("x = 1\ndef f(:\n", "syntax_error", 2),
        ("x = 1\n\0\n", "syntax_error", 2),
        ("x = " + "(" * 500 + ")" * 500, "syntax_error", None),
        ("import os\n1 / 0\n", "import_error", 2),
        ("import requests_of_nobody", "import_error", 1),
        ("input()", "import_error", 1),
        ("import sys; sys.exit(0)", "import_error", 1),
        ("def f(): f()\nf()", "import_error", 1),
        ("while True: pass", "load_timeout", None),
        ("import time; time.sleep(60)", "load_timeout", None),
        ("import os; os._exit(0)", "load_crash", None),
        ("x = [0] * 10 ** 10", "import_error", 1),
    ],
    ids=range(12),
)
def test_a_file_that_can_not_be_loaded_is_one_problem(
    source: str, kind: str, line: int | None
) -> None:
    report = grade(from_bytes(source.encode()), 10, limits=QUICK)
    assert report.problem is not None
    assert report.problem.kind == kind
    if line is not None:
        assert report.problem.line == line
    assert {t.outcome for t in report.tests} == {"not_run"}
    assert (report.verdict, report.score.points, report.score.max_points) == ("fail", 0, 14)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    report = grade(tmp_path / "harness.py", 10)
    assert report.problem is not None
    assert report.problem.kind == "not_a_file"
    assert report.submission.name == "harness.py"
    assert report.verdict == "fail"


# --- what goes wrong around it ---------------------------------------------------------------------


class BrokenRoom:
    def __init__(self, room: Any, fails_after: int, error: Exception) -> None:
        self._room, self._left, self._error = room, fails_after, error

    def send(self, *values: Any) -> None:
        self._room.send(*values)

    def receive(self, timeout_s: float) -> Any:
        if self._left == 0:
            raise self._error
        self._left -= 1
        return self._room.receive(timeout_s)

    def receive_bytes(self, timeout_s: float) -> Any:
        return self._room.receive_bytes(timeout_s)

    def close(self) -> None:
        self._room.close()


class BrokenRooms(ProcessRooms):
    def __init__(self, role: str, fails_after: int, error: Exception) -> None:
        super().__init__()
        self._role, self._how = role, (fails_after, error)

    def open_judge(self) -> Any:
        return self._broken("judge", super().open_judge())

    def open_stage(self) -> Any:
        return self._broken("stage", super().open_stage())

    def _broken(self, role: str, room: Any) -> Any:
        return BrokenRoom(room, *self._how) if role == self._role else room


GONE = RoomError("The engine is gone.", reason="engine")


def test_a_judge_that_dies_is_no_verdict() -> None:
    report = graded("", rooms=BrokenRooms("judge", 7, GONE))
    assert report.verdict == "error"
    assert {t.outcome for t in report.tests} <= {"pass", "error"}
    assert report.score.points < 14
    assert "The engine is gone." in report.notes[0]


def test_a_judge_that_dies_after_a_failure_leaves_that_failure() -> None:
    report = graded("def repair_tool_history(m): return 1", rooms=BrokenRooms("judge", 6, GONE))
    assert report.verdict == "fail"
    assert {t.outcome for t in report.tests} == {"fail", "error"}


def test_an_engine_that_vanishes_is_not_the_submissions_doing() -> None:
    report = graded("", rooms=BrokenRooms("stage", 3, GONE))
    assert report.verdict == "error"
    assert "fail" not in {t.outcome for t in report.tests}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RoomError("", reason="died"), "crash"),
        (RoomError("", reason="silent"), "timeout"),
        (WireError("cut"), "protocol"),
    ],
)
def test_a_stage_that_is_brought_down_is_the_submissions_doing(error: Exception, kind: str) -> None:
    report = graded("", rooms=BrokenRooms("stage", 2, error), tests=["orphan_result"])
    assert outcomes(report) == {"orphan_result": kind}
    assert report.verdict == "fail"


def test_a_room_that_can_not_be_opened_is_no_verdict() -> None:
    class Closed(ProcessRooms):
        def open_stage(self) -> Any:
            raise RoomError("Nothing opens.", reason="open")

    report = graded("", rooms=Closed())
    assert (report.verdict, report.score.points) == ("error", 0)
    assert {t.outcome for t in report.tests} == {"error"}


def test_two_accounts_that_disagree_are_no_verdict() -> None:
    class Forged(BrokenRoom):
        def receive(self, timeout_s: float) -> Any:
            frame = self._room.receive(timeout_s)
            if frame["op"] == "done":
                frame["outcomes"]["orphan_result"] = "failed"
            return frame

    class Rooms(ProcessRooms):
        def open_judge(self) -> Any:
            return Forged(super().open_judge(), 0, GONE)

    report = graded("", rooms=Rooms(), tests=["orphan_result"])
    assert (report.verdict, report.score.points) == ("error", 0)


# --- what a report says ----------------------------------------------------------------------------


def test_the_same_file_and_seed_give_the_same_report_but_for_times() -> None:
    def timeless(report: Report) -> Any:
        data = to_json(report)
        for item in (data, *data["tests"]):
            item.pop("duration_s")
        data.pop("started_at")
        return data

    extra = "def repair_tool_history(messages): return messages"
    assert timeless(graded(extra)) == timeless(graded(extra))


def test_another_seed_gives_the_same_verdicts_and_other_values() -> None:
    extra = "def repair_tool_history(messages): return list(messages)"
    one, other = graded(extra, seed=1), graded(extra, seed=2)
    assert outcomes(one) == outcomes(other)
    drawn = [a.replay != b.replay for a, b in zip(one.tests, other.tests, strict=True) if a.replay]
    assert sum(drawn) >= 6


def test_a_seed_from_the_file_is_the_files() -> None:
    one, other = from_bytes(b"x = 1"), from_bytes(b"x = 2")
    assert seed_of(one) == seed_of(from_bytes(b"x = 1")) != seed_of(other)
    assert grade(one, 10, seed=None).grader.seed == seed_of(one)


def test_some_tests_only() -> None:
    report = graded("", tests=["late_result", "missing_result"])
    assert [t.id for t in report.tests] == ["missing_result", "late_result"]
    assert report.score.max_points == 2
    with pytest.raises(UsageError, match="no test 'lat_result'"):
        graded("", tests=["lat_result"])


def test_a_report_says_with_what_it_was_reached() -> None:
    grader = graded("", tests=["late_result"]).grader
    assert (grader.runner, grader.image, grader.seed, grader.limits) == ("local", None, 7, QUICK)
    assert grader.python is not None
    assert grader.python.startswith("3.")


def test_lone_surrogates_and_addresses_do_not_get_into_a_report() -> None:
    report = graded(
        "def repair_tool_history(m): raise ValueError('\\ud800 at 0x7f3a12345678')",
        tests=["late_result"],
    )
    assert "ValueError: \\ud800 at 0x…" in report.tests[0].message
