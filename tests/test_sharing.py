"""A test's scenes share a process; whatever goes wrong in there counts only if it does so in a scene apart.

Each submission here counts, past its own module, how often it has been imported in one process: a scene
that is the first in its process finds 0. What it does otherwise must never show in a report.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits, Report, to_json
from grader.rooms.process import ProcessRooms
from grader.staging import Stage, _Time
from grader.submission import from_bytes
from tests.test_grading import HERE, SOLUTION

TESTS = ["missing_result", "late_result", "record_ends_on_damage"]
LIMITS = Limits(scene_cpu_s=1, scene_wall_s=20.0, hurried_wall_s=0.5)
COUNTING = """
import sys as _sys
_before = _sys.__dict__.setdefault("_imports", 0)
_sys._imports += 1
_right = repair_tool_history
def repair_tool_history(messages):
    {what}
    return _right(messages)
"""


def graded(what: str, above: str = "", **options: Any) -> Report:
    text = SOLUTION + above + COUNTING.format(what=what)
    options = {"tests": TESTS, "limits": LIMITS, **options}
    return grade(from_bytes(text.encode()), 10, **options)


def told(report: Report) -> Any:
    """All that a report says but for times and what it is about."""
    plain = to_json(report)
    for key in ("duration_s", "started_at", "submission"):
        del plain[key]
    for test in plain["tests"]:
        del test["duration_s"]
    return plain


@pytest.mark.parametrize(
    "worse",
    [
        "return []",
        "raise KeyError('c1')",
        "import os; os._exit(0)",
        "import os; os.kill(os.getpid(), 11)",
        "import os; os.write(3, b'x' * 9)",
        "import os; os.close(3)",
        "import os; os.close(4)",
        "return [0] * 10 ** 10",
        "while True: pass",
        "import time; time.sleep(60)",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "import lab; lab.__dict__.clear()",
        "import sys; sys.stdout.close()",
        "import sys; sys.stdout = None",
        "import builtins; builtins.len = None",
        "import builtins; builtins.print = lambda *a, **k: None",
        "import io, sys; sys.stdout = io.StringIO()",
        "import sys; sys.stderr.detach()",
        "import json; json.dumps = json.loads = None",
    ],
)
def test_what_goes_wrong_only_when_it_was_played_before_does_not_show(worse: str) -> None:
    report = graded(f"if _before:\n        {worse}")
    assert told(report) == told(graded("pass"))
    assert report.verdict == "pass"


@pytest.mark.parametrize("worse", ["return []", "raise KeyError('c1')", "import os; os._exit(0)"])
def test_what_is_right_only_when_it_was_played_before_fails_as_it_always_does(worse: str) -> None:
    """Nothing of what a report says shows that it went better at a second try."""
    always, at_first = graded(worse), graded(f"if not _before:\n        {worse}")
    assert [t.outcome for t in at_first.tests] == ["fail"] * 3
    assert [(t.message, t.observed) for t in at_first.tests] == [
        (t.message, t.observed) for t in always.tests
    ]


def test_a_failure_is_found_in_a_process_of_its_own() -> None:
    """A wrong answer that shows in the third scene of a test, and otherwise only once the process is used."""
    wrong = "if len(messages) == 6: return 'wrong'\n    if _before: return None"
    alone = graded("if len(messages) == 6: return 'wrong'", tests=TESTS[:1])
    report = graded(wrong, tests=TESTS[:1])
    assert report.verdict == "fail"
    assert (report.tests[0].message, report.tests[0].observed) == (
        alone.tests[0].message,
        alone.tests[0].observed,
    )


def test_a_module_is_new_in_each_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    """State in the student's own file does not reach the next scene. At most three calls are made in one."""
    kept = "_seen.append(1)\n    if len(_seen) > 3: return []"
    assert played(monkeypatch, kept, "_seen = []\n") == played(monkeypatch, "pass")


def played(
    monkeypatch: pytest.MonkeyPatch, what: str, above: str = "", tests: list[str] = TESTS[:1]
) -> list[tuple[str, bool]]:
    """For each scene where it was asked for, and whether it was alone."""
    jobs: list[tuple[str, bool]] = []
    do = Stage.do

    def noting(self: Stage, op: str, **values: Any) -> dict[str, Any]:
        answer = do(self, op, **values)
        if op == "play":
            jobs.append((values["process"], answer["alone"]))
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Stage, "do", noting)
        graded(what, above, tests=tests)
    return jobs


def test_a_right_answer_needs_one_process_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = played(monkeypatch, "pass")
    assert jobs[0] == ("new", True)
    assert set(jobs[1:]) == {("same", False)}
    assert len(jobs) > 3


def test_a_wrong_one_is_played_again_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = played(monkeypatch, "if len(messages) == 6: return []")
    shared = [job for job in jobs if job[0] != "own"]
    assert jobs[len(shared) :] == [("own", True)] * len(shared)
    assert len(shared) > 1


def test_what_fails_at_once_is_not_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(monkeypatch, "return []") == [("new", True)]


SLOW = """import time; until = time.process_time() + 0.25
    while time.process_time() < until: pass"""


def spent_on(monkeypatch: pytest.MonkeyPatch, what: str, limits: Limits) -> tuple[Report, float]:
    """The report, and how many seconds of its whole time the submission has used."""
    spent: list[float] = []
    close = Stage.close

    def noting(self: Stage) -> None:
        spent.append(self._time.used_s)
        close(self)

    monkeypatch.setattr(Stage, "close", noting)
    report = graded(what, limits=limits)
    return report, spent[-1]


def test_a_right_answer_that_is_slow_has_all_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four calls use up what one process may use. What is then played again is not counted twice."""
    report, spent_s = spent_on(monkeypatch, SLOW, LIMITS)
    assert report.verdict == "pass"
    assert spent_s < sum(test.duration_s for test in report.tests) - 0.7


def test_scenes_that_run_out_together_are_played_apart_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = [was_alone for _, was_alone in played(monkeypatch, SLOW, tests=TESTS[:2])]
    assert alone[:2] == [True, False]
    assert alone.count(False) <= 4
    first_again = alone.index(False) + alone.count(False)
    assert len(alone) > first_again + 4
    assert all(alone[first_again:])


def test_what_used_up_its_time_alone_is_not_given_any_back(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = LIMITS._replace(scene_wall_s=0.5, patience=1)
    _, spent_s = spent_on(monkeypatch, "import time; time.sleep(60)", limits)
    assert spent_s > 3 * 0.5


@pytest.mark.parametrize(
    "hushed",
    [
        "import io, sys; sys.stdout = io.StringIO()",
        "import sys; sys.stdout.close()",
        "import builtins; builtins.print = lambda *a, **k: None",
    ],
)
def test_who_prints_once_and_then_sees_to_silence_is_heard_in_every_scene(hushed: str) -> None:
    """Prints in a run that fails, and is quiet about it where another run has ended before, in one process."""
    source = (
        (HERE / "solutions" / "lesson_07" / "harness.py").read_text(encoding="utf-8")
        + f"""
_right = run_agent
def run_agent(*a, **k):
    for event in _right(*a, **k):
        if event["type"] == "turn_end" and event["message"]["stop_reason"] == "error":
            try:
                print("the run failed")
            except ValueError:
                pass
        yield event
    {hushed}
"""
    )
    lesson, found = lessons.find(7), []
    with closing(Judge(ProcessRooms(), lesson, LIMITS)) as judge:
        for text in (source.replace("the run failed", ""), source, source):
            options: dict[str, Any] = {"limits": LIMITS, "tests": ["loop_prints_nothing"]}
            found.append(grade(from_bytes(text.encode()), lesson, judge=judge, **options).verdict)
    assert found[1:] == ["fail", "fail"]


ANSWERS = """
import os, sys
_frame = sys._getframe()
while _frame is not None and "ready" not in _frame.f_locals:
    _frame = _frame.f_back
_player = _frame.f_globals if _frame else {{}}
if "_sent" not in _player:
    _player["_sent"] = _player["_write"]
    def _write(fd, data):
        count = _player["_sent"](fd, data)
        {after}
        return count
    _player["_write"] = _write
"""
DAEMON = """if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 256)
                os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(97.531)"])
            os._exit(0)
        os.wait(); os.close(3)"""


@pytest.mark.parametrize(
    "after", ["os.close(3)", "os.close(4)", "os.close(3); os.close(4)", DAEMON]
)
def test_who_closes_its_line_when_it_has_answered_ends_no_stage(after: str) -> None:
    source = SOLUTION + ANSWERS.format(after=after)
    for _ in range(3):  # there is a race in it
        assert grade(from_bytes(source.encode()), 10, tests=TESTS, limits=LIMITS).verdict == "pass"
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if b"97.531" in _read(path)]
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_time_that_is_given_back_has_an_end() -> None:
    """A submission can be slow only where it shares a process, and see to it that all is played again."""
    clock = _Time(spare_s=10.0)
    for _ in range(9):
        clock.begins("new")
        clock.took(3.0)
        clock.begins("same")
        clock.took(1.0)
        clock.begins("own")
    assert clock.used_s == 9 * 4.0 - 10.0
