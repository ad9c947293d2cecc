"""Where the system can't fork: the same verdicts, the same limits as far as there are any, nothing left over."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits, Report, to_json
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes
from tests import spawned
from tests.spawned import Case
from tests.without_unix import ROOT, WithoutUnix

SOLUTION = (ROOT / "tests" / "solutions" / "lesson_10" / "harness.py").read_text(encoding="utf-8")
NUMBERS = sorted(lessons.folders())
# On a busy machine, a second of processor time may be long in coming.
QUICK = Limits(scene_cpu_s=1, scene_wall_s=20)
JOBS = 2  # gradings at a time: what takes the time is starting interpreters


@pytest.fixture
def without_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CHECK_SPAWN", "1")


def graded(extra: str, limits: Limits = QUICK, **options: Any) -> Report:
    return grade(from_bytes(f"{SOLUTION}\n{extra}\n".encode()), 10, limits=limits, **options)


# --- the same verdicts -----------------------------------------------------------------------------


def some_tests(case: Case, turn: int) -> Case:
    """A fifth of the tests, another one each turn; of a wrong answer also two that must fail."""
    ids = [test.id for test in lessons.find(case.lesson).tests]
    chosen = {*ids[turn % 5 :: 5], *case.fails[:2]}
    return Case(
        case.lesson, case.kind, case.name, case.source, tuple(i for i in ids if i in chosen)
    )


def whole() -> Iterator[Case]:
    """The plain solutions and the starters, with every test; and what Python warns of as it compiles."""
    warned_of = f"{SOLUTION}\nMISSPELT = INTERRUPTED is 'interrupted'\n".encode()
    yield Case(10, "right answers", "warned of", warned_of, ("missing_result", "late_result"))
    for number in NUMBERS:
        yield from (case for case in spawned.right_answers(number) if case.name == "harness")
        yield from spawned.starters(number)


def in_part() -> Iterator[Case]:
    """The other right answers, and a tenth of the wrong ones; all of them: `python -m tests.spawned`."""
    draw = random.Random(10)
    for number in NUMBERS:
        wrong = list(spawned.wrong_answers(number))
        others = [case for case in spawned.right_answers(number) if case.name != "harness"]
        sample = others + wrong[draw.randrange(10) :: 10]
        yield from (some_tests(case, turn) for turn, case in enumerate(sample))


@pytest.mark.parametrize("cases", [whole, in_part])
def test_the_reports_are_the_same(cases: Callable[[], Iterator[Case]]) -> None:
    every = list(cases())
    mine = threading.local()  # a judge can be used by one at a time
    judges: list[Judge] = []

    def graded(case: Case) -> Report:
        judge = mine.__dict__.get(str(case.lesson))
        if judge is None:
            judge = Judge(ProcessRooms(), lessons.find(case.lesson), Limits())
            mine.__dict__[str(case.lesson)] = judge
            judges.append(judge)
        return spawned.graded(case, judge)

    try:
        with ThreadPoolExecutor(JOBS) as pool:
            expected = list(pool.map(graded, every))
            with spawned.spawning():  # the judges that are up stay: it is the stages that differ
                got = list(pool.map(graded, every))
    finally:
        for judge in judges:
            judge.close()
    pairs = zip(every, expected, got, strict=True)
    assert [
        (case.lesson, case.name, line)
        for case, one, other in pairs
        for line in spawned.differences(one, other)
    ] == []


# --- limits, and what a submission may try ---------------------------------------------------------


@pytest.mark.parametrize(
    ("does", "kind", "says"),
    [
        ("raise KeyError('c1')", "exception", "it raised KeyError: 'c1'"),
        ("import os; os._exit(0)", "crash", "ended the whole program"),
        ("import os; os.kill(os.getpid(), 11)", "crash", "SIGSEGV"),
        ("while True: pass", "timeout", "1 s of processor time"),
        ("import time; time.sleep(60)", "timeout", "did not come back within 3 s"),
        ("return [0] * 10 ** 10", "memory", "out of memory"),
        ("return ['x' * 10 ** 6] * 3", "output", "more than a test can take"),
        ("import os; os.write(3, b'x' * 9); os._exit(0)", "protocol", "only the grader writes"),
        ("import os; os.close(3); os.close(1)", "crash", "ended the whole program"),
        ("import sys; print('é' * 10 ** 6, file=sys.stderr); 1 / 0", "exception", "ZeroDivision"),
        # A process that stays behind, and holds on to everything that it was given.
        (
            "import os, time\n        if os.fork() == 0: time.sleep(60)\n        os._exit(0)",
            "crash",
            "ended the whole program",
        ),
    ],
)
@pytest.mark.usefixtures("without_forks")
def test_one_test_is_hit_and_the_others_are_judged(does: str, kind: str, says: str) -> None:
    report = graded(
        "_right = repair_tool_history\n"
        "def repair_tool_history(messages):\n"
        f"    if messages and messages[0]['content'] == 'Good morning.':\n        {does}\n"
        "    return _right(messages)",
        tests=["missing_result", "orphan_result", "late_result"],
        limits=Limits(scene_wall_s=3) if "time.sleep(60)" in does else QUICK,
    )
    got = {t.id: t.kind or t.outcome for t in report.tests}
    assert got == {"missing_result": "pass", "orphan_result": kind, "late_result": "pass"}
    assert says in report.tests[1].message


@pytest.mark.usefixtures("without_forks")
def test_nothing_shows_a_submission_how_it_is_played() -> None:
    report = graded(
        "import os, sys\n"
        "def repair_tool_history(messages):\n"
        "    names = sorted(n for n in sys.modules if n.partition('.')[0] in ('grader', 'pytest'))\n"
        "    raise ValueError(f'{names} {[n for n in os.environ if n.startswith(\"LAB\")]}'\n"
        "        f' {os.listdir(\"/proc/self/fd\")} {sys.stdin.read()!r} {os.read(0, 1)}')",
        tests=["late_result"],
    )
    assert "ValueError: [] [] ['0', '1', '2', '3', '4'] '' b''" in report.tests[0].message


@pytest.mark.usefixtures("without_forks")
def test_what_a_submission_printed_is_told() -> None:
    report = graded(
        "import sys\n"
        "def repair_tool_history(m):\n    print('out é'); print('err', file=sys.stderr); 1 / 0",
        tests=["late_result"],
    )
    assert report.tests[0].stdout == "out é\nerr\n"


@pytest.mark.usefixtures("without_forks")
def test_a_judge_is_used_once_and_the_next_submission_gets_another() -> None:
    class Counting(ProcessRooms):
        judges = 0

        def open_judge(self) -> Any:
            self.judges += 1
            return super().open_judge()

    rooms = Counting()
    with closing(Judge(rooms, lessons.find(10), QUICK)) as judge:
        for extra, verdict in (("", "pass"), ("def repair_tool_history(m): return m", "fail")):
            report = graded(extra, judge=judge, rooms=rooms, tests=["late_result"])
            assert report.verdict == verdict
        limits = Limits(scene_wall_s=0.6, total_s=1.0)  # broken off in the middle
        slow = from_bytes(b"import time\ndef repair_tool_history(m): time.sleep(9)\n")
        cut = grade(slow, 10, rooms=rooms, judge=judge, limits=limits)
        assert cut.tests[-1].outcome == "not_run"
        assert graded("", judge=judge, rooms=rooms, tests=["late_result"]).verdict == "pass"
    assert rooms.judges == 4


@pytest.mark.usefixtures("without_forks")
def test_an_interpreter_that_can_not_be_started_is_held_against_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lame = tmp_path / "python"
    lame.write_text(
        f'#!/bin/sh\nexec {sys.executable} "$1" "$2" "$3" "import sys; '
        'sys.executable = \'/bin/false\'; exec(sys.argv.pop(1))" "$4"\n'
    )
    lame.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(lame))
    report = graded("", tests=["late_result"])
    assert (report.verdict, report.tests[0].outcome) == ("error", "error")
    assert "no interpreter starts here" in report.notes[0]


# --- what is left over: nothing --------------------------------------------------------------------


def is_running(pid: int) -> bool:
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        return state != "Z"
    return False


@pytest.mark.usefixtures("without_forks")
def test_a_grader_that_goes_away_leaves_no_player_running() -> None:
    room = ProcessRooms().open_stage()
    lesson = lessons.find(10)
    # Its process is out of reach of what the kernel would do about it by itself.
    source = f"{SOLUTION}\nimport os\nos.write(1, b'%d\\n' % os.getpid())\nwhile True: pass\n"
    room.send(
        {
            "op": "open",
            "source": source,
            "modules": dict(lesson.modules),
            "scenes": lesson.scene_source,
            "limits": to_json(Limits(scene_cpu_s=60)),
        }
    )
    assert room.receive(20)["op"] == "opened"
    room.send({"wall_s": 60}, {"op": "load"})
    time.sleep(0.3)
    stage = room._process.pid
    children = Path(f"/proc/{stage}/task/{stage}/children").read_text(encoding="ascii").split()
    assert [is_running(int(pid)) for pid in children] == [True]
    assert room._process.stdin is not None
    room._process.stdin.close()  # and no more: `close` would kill the stage if it stayed
    assert room._process.wait(5) == 0
    room.close()
    assert not is_running(int(children[0]))


# --- without anything of Unix ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> WithoutUnix:
    return WithoutUnix(tmp_path_factory.mktemp("elsewhere"))


IMPORT_ALL = """
import importlib, pkgutil, sys
import grader
sys.path.append(grader.__path__[0])  # for `lab`, as in a room
names = sorted(module.name for module in pkgutil.walk_packages(grader.__path__, "grader."))
for name in names:
    # The one is the command itself. The other is sent to a container as text, and imported by nobody.
    if name not in ("grader.__main__", "grader.rooms.probes"):
        importlib.import_module(name)
        print(name)
"""

GRADE = """
import json
from contextlib import closing
from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes

solution = open("tests/solutions/lesson_10/harness.py", encoding="utf-8").read()
lesson, limits = lessons.find(10), Limits(scene_wall_s=1.5)
broken = solution + "\\nimport os\\ndef repair_tool_history(m):\\n    print(os.getpid())\\n    "
told = {}
with closing(Judge(ProcessRooms(), lesson, limits)) as judge:
    for name, source in {
        "solution": solution,
        "starter": lesson.starter.read_text(encoding="utf-8"),
        "hangs": broken + "while True: pass\\n",
        "leaves": broken + "os._exit(0)\\n",
        "looks": "import os, sys\\n"
            "raise ValueError(sys.platform, hasattr(os, 'fork'), sys.modules['resource'])\\n",
        "never loads": "while True: pass\\n",
        "no python": "def f(:\\n",
    }.items():
        report = grade(from_bytes(source.encode()), lesson, judge=judge, limits=limits,
                       tests=["missing_result", "orphan_result"])
        told[name] = [report.verdict, report.problem and report.problem.message,
                      [[t.outcome, t.kind, t.message, t.stdout] for t in report.tests]]
print(json.dumps(told))
"""


def test_every_module_can_be_imported(elsewhere: WithoutUnix) -> None:
    done = elsewhere.run(IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    names = set(done.stdout.split())
    assert {"grader.cli", "grader.inside.stage", "grader.inside.spawn", "grader.lab"} <= names
    assert len(names) > 80


def test_a_solution_a_starter_and_what_hangs_are_graded(elsewhere: WithoutUnix) -> None:
    done = elsewhere.run(GRADE)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["solution"] == ["pass", None, [["pass", None, "", ""]] * 2]
    starter = grade(_starter(), 10, tests=["missing_result", "orphan_result"])
    assert told["starter"] == [
        starter.verdict,
        None,
        [[t.outcome, t.kind, t.message, t.stdout] for t in starter.tests],
    ]
    for name, kind, says in (
        ("hangs", "timeout", "did not come back within 1.5 s"),
        ("leaves", "crash", "ended the whole program, without an error"),
    ):
        verdict, problem, tests = told[name]
        assert (verdict, problem) == ("fail", None)
        assert [(outcome, of) for outcome, of, _, _ in tests] == [("fail", kind)] * 2
        assert all(says in message for _, _, message, _ in tests)
        assert not [pid for *_, printed in tests for pid in printed.split() if is_running(int(pid))]
        assert all(printed.strip().isdigit() for *_, printed in tests)
    assert "did not come back within 1.5 s" in told["never loads"][1]
    assert "Line 1 is not Python" in told["no python"][1]
    # It is not only the grader that had to do without: so had the room, and the process of the scene.
    assert "ValueError: ('elsewhere', False, None)" in told["looks"][1]


def test_the_command_grades(elsewhere: WithoutUnix) -> None:
    code = (
        "import sys\nfrom grader.cli import main\n"
        "sys.argv[1:] = '--runner local --lesson 10 --test late_result'.split()"
        " + ['tests/solutions/lesson_10/harness.py']\nmain()"
    )
    done = elsewhere.run(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("1 of 1")


def _starter() -> Path:
    starter = lessons.find(10).starter
    assert starter is not None
    return starter


def test_the_page_for_operators_names_the_variable() -> None:
    page = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    assert f"`{spawned.SWITCH}=1`" in page
