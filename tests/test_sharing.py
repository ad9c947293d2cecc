"""A test's scenes share a process; whatever is odd about that counts only if it is so in a scene apart.

Each submission here counts, past its own module, how often it has been imported in one process: a scene
that is the first in its process finds 0. What it does otherwise must never show in a report.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from grader import grade, lessons, wire
from grader.errors import RoomError
from grader.judging import Judge
from grader.records import Limits, Report, to_json
from grader.rooms.process import ProcessRooms
from grader.staging import Stage, TimeUpError
from grader.submission import from_bytes
from tests.test_grading import HERE, SOLUTION

LESSON = lessons.find(10)
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


def test_a_module_is_new_in_each_scene(jobs: list[tuple[int, bool]]) -> None:
    """State in the student's own file does not reach the next scene. At most three calls are made in one."""
    kept = "_seen.append(1)\n    if len(_seen) > 3: return []"
    assert graded(kept, "_seen = []\n").verdict == "pass"
    assert jobs == [(6, True), (2, True), (3, True)]


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """For each job of a stage that is no import: of how many scenes, and whether something came of that."""
    noted: list[tuple[int, bool]] = []
    asked = Stage._asked

    def noting(self: Stage, op: str, wall_s: float, values: Any) -> Any:
        answer, took_s = asked(self, op, wall_s, values)
        if op == "play":
            scenes = 1 + len(values.get("ahead", []))
            noted.append((scenes, {"observation", "observations"} & answer.keys() != set()))
        return answer, took_s

    monkeypatch.setattr(Stage, "_asked", noting)
    return noted


def test_a_right_answer_needs_one_process_a_test(jobs: list[tuple[int, bool]]) -> None:
    """As many scenes as the test module plays: 6 and 2 and 3."""
    assert graded("pass").verdict == "pass"
    assert jobs == [(6, True), (2, True), (3, True)]


@pytest.mark.parametrize("lesson", [7, 9, 10])
def test_so_does_the_solution_of_each_lesson(lesson: int, jobs: list[tuple[int, bool]]) -> None:
    assert grade(HERE / f"solutions/lesson_{lesson:02}/harness.py", lesson).verdict == "pass"
    assert len(jobs) == len(lessons.find(lesson).tests)


def test_a_wrong_one_is_played_again_one_by_one(jobs: list[tuple[int, bool]]) -> None:
    graded("if len(messages) == 6: return []", tests=TESTS[:1])
    assert jobs == [(6, True), *[(1, True)] * 4]


def test_what_raises_is_played_again_one_by_one_and_the_next_test_as_ever(
    jobs: list[tuple[int, bool]],
) -> None:
    graded("if len(messages) == 6: raise KeyError", tests=["late_result", *TESTS[:1], *TESTS[2:]])
    assert jobs[:2] == [(6, False), (1, True)]
    assert (2, True) in jobs
    assert jobs[-1][0] == 1 or jobs[-1] == (3, True)


SLOW = """import time; until = time.process_time() + 0.25
    while time.process_time() < until: pass"""


def test_a_right_answer_that_is_slow_is_played_apart_from_then_on(
    jobs: list[tuple[int, bool]],
) -> None:
    """Four calls use up what one process may use."""
    assert graded(SLOW).verdict == "pass"
    assert jobs[0] == (6, False)
    assert jobs[1:] == [(1, True)] * (6 + 2 + 3)


def test_all_that_it_uses_counts() -> None:
    """Slow and wrong only where it shares a process: what is played again is no time given back."""
    slow = SLOW.replace("\n", "\n    ")
    report = graded(f"if _before:\n        {slow}", limits=LIMITS._replace(total_s=0.4))
    assert "whole time" in report.tests[-1].message


RIGHT = "\n_right = repair_tool_history\ndef repair_tool_history(messages):\n    {}\n    return _right(messages)\n"


def one_by_one(
    monkeypatch: pytest.MonkeyPatch, source: str, lesson: int = 10, **options: Any
) -> Any:
    """What is told where no scene ever shares a process."""
    do = Stage.do

    def apart(self: Stage, op: str, *, ahead: Any = (), **values: Any) -> Any:
        del ahead
        return do(self, op, **values)

    options = {"tests": TESTS, "limits": LIMITS, **options}
    with monkeypatch.context() as patch:
        patch.setattr(Stage, "do", apart)
        return told(grade(from_bytes(source.encode()), lesson, **options))


RIGHT_ANSWERS = [
    (number, path)
    for number in sorted(lessons.folders())
    for path in sorted((HERE / "solutions" / f"lesson_{number:02}").glob("*.py"))
]


@pytest.mark.parametrize(
    ("number", "path"),
    RIGHT_ANSWERS,
    ids=[f"{number}-{path.stem}" for number, path in RIGHT_ANSWERS],
)
def test_every_right_answer_has_the_same_report_one_by_one(
    monkeypatch: pytest.MonkeyPatch, number: int, path: Path
) -> None:
    source = path.read_text(encoding="utf-8")
    apart = one_by_one(monkeypatch, source, number, tests=(), limits=Limits())
    report = grade(from_bytes(source.encode()), number)
    assert told(report) == apart
    assert report.verdict == "pass"


MARKED = """
import ctypes as _ctypes, os as _os, re as _re


def _in_memory(pattern):
    found = set()
    for line in open("/proc/self/maps").read().splitlines():
        span, rights, *_, name = line.split()
        low, high = (int(end, 16) for end in span.split("-"))
        if rights.startswith("rw") and high - low < 64 << 20 and name != "[stack]":
            held = _ctypes.string_at(low, high - low)
            found |= {match.group(1) for match in _re.finditer(pattern, held)}
    return found


def _together():
    frame = _sys._getframe()
    while frame is not None and "jobs" not in frame.f_locals:
        frame = frame.f_back
    return frame is not None


import sys as _sys
_right = repair_tool_history
def repair_tool_history(messages):
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for itself in /proc")
def test_what_was_printed_before_is_in_no_memory() -> None:
    source = f"""{SOLUTION}{MARKED}
    if _in_memory(b"MA" + b"RK-([0-9]+)#") - {{str(_os.getpid()).encode()}}:
        return []
    print(("MA" + "RK-%d#" % _os.getpid()) * 50)
    return _right(messages)
"""
    assert together(source).verdict == "pass"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for itself in /proc")
def test_what_other_scenes_were_given_is_in_no_memory_either() -> None:
    """It does not answer where it is played with others, and then finds nothing of that where it is alone."""
    source = f"""{SOLUTION}{MARKED}
    if _together():
        _os._exit(0)
    if _in_memory(b'("ah' + b'ead"):.{{"sc' + b'ene"'):
        return []
    return _right(messages)
"""
    assert together(source).verdict == "pass"


def together(source: str, **options: Any) -> Report:
    options = {"tests": TESTS, "limits": LIMITS, **options}
    return grade(from_bytes(source.encode()), 10, **options)


@pytest.mark.parametrize(
    "does",
    [
        "return []",
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
def test_the_report_is_the_same_whatever_the_submission_does(
    monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    source = SOLUTION + RIGHT.format(does)
    assert told(together(source)) == one_by_one(monkeypatch, source)


def test_what_hangs_further_on_has_its_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = LIMITS._replace(scene_wall_s=2.0, patience=9)
    source = SOLUTION + RIGHT.format("if len(messages) == 6: import time; time.sleep(60)")
    report = together(source, limits=limits)
    assert told(report) == one_by_one(monkeypatch, source, limits=limits)
    assert [t.kind for t in report.tests] == ["timeout", None, None]
    assert "within 2 s" in report.tests[0].message


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
        '{"observations": [[], {}, 1, null, "x", []]}',
        '{"observations": []}',
        '{"observations": {}}',
        '{"observation": [], "ahead": [1]}',
        '{"observation": []}',
    ],
)
def test_an_answer_to_what_was_not_asked_is_the_submissions_own_failure(
    monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    """Asked for one scene or for several; it never breaks a hidden test, which would be our fault."""
    forged = SOLUTION + FORGING.replace("json.dumps({})", repr(answer))
    report = together(forged)
    assert told(report) == one_by_one(monkeypatch, forged)
    assert [t.outcome for t in report.tests] == ["fail"] * len(TESTS)


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


def test_what_other_scenes_are_given_is_not_in_the_process_of_one() -> None:
    """Several scenes of this test begin with one message. Whoever finds another transcript hands that back."""
    assert together(SOLUTION + LOOKING, tests=["valid_transcript_unchanged"]).verdict == "pass"


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


@pytest.mark.parametrize("after", ["os.close(3)", DAEMON])
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


def lists_of(value: Any) -> Iterator[list[Any]]:
    """Every list of two dicts or more that is anywhere in plain data."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, list) and sum(isinstance(item, dict) for item in value) > 1:
        yield value
    for item in inside:
        yield from lists_of(item)


def given_away(scenes: list[Any], seen: list[Any]) -> list[tuple[str, str]]:
    """Pairs of scenes of which the first one shows what the second one is given, or that and results made up."""
    found = []
    for at, (scene, observation) in enumerate(zip(scenes, seen, strict=True)):
        own = [*lists_of(scene["given"])]
        for due in lists_of(observation):
            recorded = [m for m in due if "no result was recorded" not in str(m)]
            for other in [*scenes[:at], *scenes[at + 1 :]]:
                given = [one for one in lists_of(other["given"]) if one not in own]
                if due in given or recorded in given:
                    found.append((scene["scene"], other["scene"]))
    return found


@pytest.mark.parametrize("number", sorted(lessons.folders()))
def test_no_scene_is_given_what_is_due_in_another(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """They are in one process, from before the first is played."""
    played: list[tuple[list[Any], list[Any]]] = []
    asked = Stage._asked

    def noting(self: Stage, op: str, wall_s: float, values: Any) -> Any:
        answer, took_s = asked(self, op, wall_s, values)
        if "ahead" in answer:
            played.append(([values, *values["ahead"]], [answer["observation"], *answer["ahead"]]))
        return answer, took_s

    monkeypatch.setattr(Stage, "_asked", noting)
    for seed in (7, 99):
        solution = HERE / f"solutions/lesson_{number:02}/harness.py"
        assert grade(solution, number, seed=seed).verdict == "pass"
    assert len(played) > 10
    assert [found for scenes, seen in played if (found := given_away(scenes, seen))] == []


def test_it_is_noticed() -> None:
    made_up = {"role": "toolResult", "content": "…: no result was recorded. …"}
    due = [{"role": "user"}, {"role": "assistant"}, made_up]
    asked = {"scene": "view", "given": {"record": [{"role": "user"}, {}, {"role": "assistant"}]}}
    telling = {"scene": "repair", "given": {"records": [due[:2]]}}
    assert given_away([asked, telling], [{"items": due}, {}]) == [("view", "repair")]
    assert given_away([telling, telling], [{"items": due}, {}]) == []


class SlowToOpen(ProcessRooms):
    """Each stage takes 0.2 s more to open, and does not live to give an answer."""

    def open_stage(self) -> Any:
        room = super().open_stage()
        receive = room.receive_bytes

        def opened(timeout_s: float) -> Any:
            time.sleep(0.2)
            room.receive = gone  # type: ignore[method-assign]
            return wire.decode(receive(timeout_s))

        def gone(timeout_s: float) -> Any:
            raise RoomError(f"not within {timeout_s} s", reason="memory")

        room.receive = opened  # type: ignore[method-assign]
        return room


def test_the_start_of_a_room_is_paid_for_by_who_brought_the_last_one_down() -> None:
    limits = LIMITS._replace(total_s=1.0)
    stage = Stage(SlowToOpen(), LESSON, from_bytes(SOLUTION.encode()), limits)

    def nine_times() -> None:
        for _ in range(9):
            assert stage.do("load")["fault"]["kind"] == "memory"

    with closing(stage), pytest.raises(TimeUpError):
        nine_times()


def test_a_wrong_answer_with_a_sign_of_its_own_is_none() -> None:
    """A process that has answered leaves with 0; any other number would be a way to tell the next one something."""
    source = (
        SOLUTION
        + """
import sys
_frame = sys._getframe()
while _frame.f_code.co_name != "play":
    _frame = _frame.f_back
_names, _leave = _frame.f_globals, _frame.f_globals["leave"]
_names["leave"] = lambda _: _leave(5)
"""
    )
    report = together(source)
    assert report.problem is not None
    assert report.problem.kind == "load_crash"


def test_nothing_of_how_the_last_process_ended_is_in_the_next() -> None:
    source = (
        SOLUTION
        + """
import gc
gc.unfreeze()
_right = repair_tool_history
def repair_tool_history(messages):
    import sys
    frame, held = sys._getframe(), []
    while frame is not None:
        held += [value for value in frame.f_locals.values() if hasattr(value, "timed_out")]
        frame = frame.f_back
    held += [one for one in gc.get_objects() if hasattr(type(one), "timed_out") and isinstance(one, tuple)]
    return [] if held else _right(messages)
"""
    )
    assert together(source).verdict == "pass"


def test_what_python_says_while_it_compiles_is_not_printed_by_the_first_job() -> None:
    with closing(ProcessRooms().open_stage()) as room:
        room.send(
            {
                "op": "open",
                "source": "if 1 is 1:\n    print('loaded')\n",
                "modules": {},
                "scenes": "",
                "limits": to_json(LIMITS),
            }
        )
        assert room.receive(20)["op"] == "opened"
        room.send({"wall_s": 5.0}, {"op": "load"})
        assert room.receive(20)["status"] == 0
        assert b"lines" in room.receive_bytes(20)
        assert room.receive_bytes(20) == b"loaded\n"
