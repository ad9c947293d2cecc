"""Whatever a submission tries: the right verdict, nobody else's touched, and nothing of the tests let out.

The attacks are files in attacks/files and rows in attacks/attacks.toml; `python tests/attacks/run.py` prints
the table. Nothing of theirs runs outside of a room; what could reach beyond a plain process runs in
containers only.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader import grade, lessons
from grader.inside.compare import fits
from grader.judging import Judge
from grader.records import Limits
from grader.rooms.process import ProcessRooms
from grader.staging import Stage
from grader.submission import from_bytes
from tests.attacks import observations, suite
from tests.attacks.malformed import malformed
from tests.attacks.suite import Attack, Bait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.rooms import Rooms
    from grader.rooms.container import ContainerRooms

ATTACKS = {attack.name: attack for attack in suite.attacks() if not attack.limit}
LIMITS = {attack.name: attack for attack in suite.attacks() if attack.limit}
_ON_LOCAL = [name for name, attack in ATTACKS.items() if not attack.runs_on("local")]
_AT_ONCE = 3


@pytest.fixture(scope="module")
def lure(tmp_path_factory: pytest.TempPathFactory) -> Bait:
    return suite.bait(tmp_path_factory.mktemp("bait") / "lessons")


class Runner:
    """Runs attacks several at a time, ahead of the tests that look at what came of them."""

    def __init__(self, rooms: Rooms, lure: Bait) -> None:
        self._rooms, self._lure = rooms, lure
        self._judges = suite.Judges(rooms, lure)
        self._pool = ThreadPoolExecutor(_AT_ONCE)
        self._started: dict[str, Any] = {}

    def start(self, names: list[str]) -> None:
        for name in names:
            self._started[name] = self._pool.submit(self.run, ATTACKS[name])

    def run(self, attack: Attack) -> suite.Result:
        return suite.run(attack, self._rooms, self._judges, self._lure)[1]

    def result(self, name: str) -> suite.Result:
        if name not in self._started:
            self.start([name])
        found: suite.Result = self._started[name].result()
        return found

    def results(self, attacks: list[Attack]) -> dict[str, suite.Result]:
        """What was not contained of these, by name."""
        found = self._pool.map(self.run, attacks)
        return {a.name: r for a, r in zip(attacks, found, strict=True) if not r.contained}

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._judges.close()


def _wanted(request: pytest.FixtureRequest, test: str) -> list[str]:
    """The attacks that are about to be asked for, in that order."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    return [str(i.callspec.params["name"]) for i in items if i.originalname == test]


@pytest.fixture(scope="module")
def local(lure: Bait, request: pytest.FixtureRequest) -> Iterator[Runner]:
    with contextlib.closing(Runner(ProcessRooms(), lure)) as runner:
        runner.start(_wanted(request, "test_in_plain_processes"))
        yield runner


@pytest.fixture(scope="module")
def docker(
    lure: Bait, containers: ContainerRooms, request: pytest.FixtureRequest
) -> Iterator[Runner]:
    with contextlib.closing(Runner(containers, lure)) as runner:
        runner.start(_wanted(request, "test_in_containers"))
        yield runner


def contained(result: suite.Result) -> None:
    assert (result.leaked, result.false_passes) == ([], [])
    assert result.disturbed == []
    assert result.wrong == []


@pytest.mark.docker
@pytest.mark.parametrize("name", ATTACKS)
def test_in_containers(name: str, docker: Runner) -> None:
    contained(docker.result(name))


@pytest.mark.skipif(sys.platform != "linux", reason="a plain process keeps little in elsewhere")
@pytest.mark.parametrize("name", _ON_LOCAL)
def test_in_plain_processes(name: str, local: Runner) -> None:
    contained(local.result(name))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a FIFO and names that are no text")
def test_files_that_are_no_usual_file(local: Runner, tmp_path: Path) -> None:
    assert local.results(malformed(tmp_path)) == {}


@pytest.mark.docker
def test_what_breaks_a_compiler_breaks_it_in_a_container(docker: Runner, tmp_path: Path) -> None:
    harsh = ("brackets", "minus_signs", "attributes", "additions", "lambdas", "power_when_compiled")
    chosen = [a for a in malformed(tmp_path) if a.name.partition("/")[2] in harsh]
    assert len(chosen) == len(harsh)
    assert docker.results(chosen) == {}


# --- what is known not to hold -----------------------------------------------------------------------


@pytest.mark.parametrize("name", LIMITS)
def test_a_known_limit_is_still_one(name: str, lure: Bait) -> None:
    """docs/security.md says that these get through. The day that one doesn't, it has to say so."""
    attack = LIMITS[name]
    report = grade(from_bytes(attack.source), lure.lessons[attack.lesson], limits=suite.LIMITS)
    assert report.verdict == "pass"
    page = (suite.ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert name.partition("/")[2] in page


def written_down(lesson: lessons.Lesson) -> bytes:
    """A submission that holds the answers to every record that seed 7 brings, and no repair."""
    solution = {"__name__": "harness"}
    exec(compile(suite.base_of("right", 10), "harness.py", "exec"), solution)
    right: Any = solution["repair_tool_history"]
    answers: dict[str, list[Any]] = {}

    def noting(messages: list[Any]) -> list[Any]:
        view: list[Any] = right(messages)
        at = {id(message): number for number, message in enumerate(messages)}
        answers[_key(messages)] = [at.get(id(message), message) for message in view]
        return view

    solution["repair_tool_history"] = noting  # type: ignore[assignment]
    _play_all(lesson, solution)
    return f"""{suite.base_of("starter", 10)}

INTERRUPTED = {solution["INTERRUPTED"]!r}
_ANSWERS = {answers!r}


def context_for_model(messages):
    return repair_tool_history([m for m in messages if m["role"] != "assistant" or m["content"]])


def repair_tool_history(messages):
    view = _ANSWERS.get(json.dumps(messages), messages)
    return [messages[m] if isinstance(m, int) else m for m in view]
""".encode()


def _key(messages: list[Any]) -> str:
    return json.dumps(messages)


def _play_all(lesson: lessons.Lesson, harness: dict[str, Any]) -> None:
    """Play every scene that the right answer is asked for, in this process: all of it is ours."""
    import types

    from grader import lab
    from grader.inside.actor import Actor
    from grader.inside.console import Console

    module = types.ModuleType("harness")
    module.__dict__.update(harness)
    scenes: dict[str, Any] = {"__name__": "scenes"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "lab", lab)
        exec(compile(lesson.scene_source, "scenes.py", "exec", dont_inherit=True), scenes)
    actor = Actor(module, "", Console(1, 0))
    _judged(lesson, lambda asked: {"observation": scenes[asked["scene"]](actor, **asked["given"])})


def _judged(lesson: lessons.Lesson, play: Any, seed: int = 7) -> dict[str, Any]:
    """The results of a lesson's tests, with `play` in the place of a stage."""
    results: dict[str, Any] = {}
    with contextlib.closing(Judge(ProcessRooms(), lesson, Limits(judge_s=120))) as judge:
        judge.run(
            seed,
            [test.id for test in lesson.tests],
            play,
            results.__setitem__,
        )
    return results


def test_answers_that_were_written_down_are_wrong_for_a_file_of_its_own(lure: Bait) -> None:
    """The default seed is everybody's. A seed from the file's own hash can't be written into the file."""
    table = from_bytes(written_down(lure.lessons[10]))
    assert grade(table, lure.lessons[10], seed=7).verdict == "pass"
    report = grade(table, lure.lessons[10], seed=None)
    alone = suite.alone("idle", 10, None)
    assert [t.id for t in report.tests if t.outcome == "pass" and alone[t.id] != "pass"] == []
    assert report.verdict == "fail"


# --- two at once --------------------------------------------------------------------------------------


@pytest.mark.docker
def test_two_gradings_at_once_do_not_hear_each_other(
    lure: Bait, containers: ContainerRooms
) -> None:
    def told(name: str) -> str:
        report = grade(
            from_bytes(ATTACKS[name].source),
            lure.lessons[10],
            rooms=containers,
            limits=suite.LIMITS,
            tests=[suite.HIT[10]],
        )
        assert report.verdict == "pass"
        return report.tests[0].stdout

    with ThreadPoolExecutor(2) as pool:
        listener = pool.submit(told, "escape/a_listener_for_others")
        caller = pool.submit(told, "escape/a_caller_of_others")
        assert "nobody called" in listener.result()
        assert "nobody is there" in caller.result()


# --- the command, as a student runs it --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["read/all_objects", "report/controls", "report/fake_report", "forge/exit_in_a_call"]
)
def test_nothing_gets_out_of_the_command(name: str, lure: Bait, tmp_path: Path) -> None:
    attack = ATTACKS[name]
    (tmp_path / "harness.py").write_bytes(attack.source)
    command = [sys.executable, "-m", "grader", "--lesson", "10", "--lessons", str(lure.folder)]
    command += ["--runner", "local", "--report", "json=r.json", "--report", "html=r.html"]
    ran = subprocess.run(
        [*command, "harness.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(suite.ROOT)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == (1 if attack.hits else 0)
    told = (ran.stdout + ran.stderr).decode()
    told += (tmp_path / "r.json").read_text() + (tmp_path / "r.html").read_text()
    assert lure.found_in(told) == []
    assert "\x1b" not in told
    assert ran.stderr == b""


def test_the_canaries_sing(lure: Bait) -> None:
    """What is searched for is really there: the hidden tests of the copy hold every secret."""
    source = "".join(lesson.test_source for lesson in lure.lessons.values())
    toml = "".join((lesson.folder / "lesson.toml").read_text() for lesson in lure.lessons.values())
    assert len(lure.found_in(source)) > 200
    assert set(lure.found_in(source + toml)) == set(lure.secrets)
    scenes = "".join(lesson.scene_source for lesson in lure.lessons.values())
    assert lure.found_in(scenes) == []


# --- whose fault it is ------------------------------------------------------------------------------------


def lesson_with(tmp_path: Path, scenes: str, stand_in: str) -> lessons.Lesson:
    folder = tmp_path / "lesson_11"
    folder.mkdir()
    (folder / "scenes.py").write_text(scenes)
    (folder / "test_lesson_11.py").write_text(
        "from grader.inside.testing import rule\n\n\n"
        '@rule("answers")\ndef test_answers(play, expect):\n'
        '    """It answers."""\n'
        '    expect.equal(play("ask"), 42, "it gave another number.")\n'
    )
    (folder / "lesson.toml").write_text(
        f"number = 11\ntitle = 'x'\nstand_in = '''\n{stand_in}'''\n"
        "[[rule]]\nid = 'answers'\ntext = 'x'\nwhy = 'x'\nsection = 'x'\n"
    )
    return lessons.load(folder)


ASKS = 'def ask(actor):\n    return actor.plain(actor.call("f()", actor.need("f")))\n'
BROKEN = 'def ask(actor):\n    actor.call("f()", actor.need("f"))\n    return nothing\n'
FORGES = """
import json, os, struct
def f():
    body = json.dumps({"fault": {"kind": "scene", "message": "scenes.py:1: KeyError: 'x'"}}).encode()
    os.write(3, struct.pack(">I", len(body)) + body)
    os._exit(0)
"""
ANSWERS = "def f():\n    return 41\n"


@pytest.mark.parametrize(
    ("scenes", "stand_in", "source", "verdict", "kind"),
    [
        (ASKS, ANSWERS, FORGES, "fail", "protocol"),
        (ASKS, "", FORGES, "error", None),  # nothing to tell by
        (ASKS, "g = 1\n", FORGES, "error", None),  # nor here: it did not get as far
        (BROKEN, ANSWERS, ANSWERS, "error", None),
        (BROKEN, ANSWERS, FORGES, "error", None),
    ],
    ids=["forged", "no-stand-in", "stand-in-stumbles", "broken", "broken-and-forged"],
)
def test_a_broken_scene_is_ours_unless_it_holds_with_the_stand_in(
    scenes: str, stand_in: str, source: str, verdict: str, kind: str | None, tmp_path: Path
) -> None:
    report = grade(from_bytes(source.encode()), lesson_with(tmp_path, scenes, stand_in))
    assert (report.verdict, report.tests[0].kind) == (verdict, kind)


@pytest.mark.parametrize("number", suite.HIT)
def test_every_scene_can_be_played_with_the_stand_in(number: int) -> None:
    """Else a submission that breaks such a scene on purpose would get away without a verdict."""
    lesson = lessons.find(number)
    report = grade(from_bytes(lesson.stand_in.encode()), lesson)
    assert {t.kind for t in report.tests if t.outcome != "pass"} == {"rule"}
    assert report.verdict == "fail"


@functools.cache
def real(number: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What the stage answers to a right submission; each scene is played once."""
    lesson = lessons.find(number)
    right = from_bytes(suite.base_of("right", number).encode())
    stage = Stage(ProcessRooms(), lesson, right, Limits(total_s=600))
    stage.start()
    stage.do("load")
    known: dict[str, Any] = {}

    def play(asked: dict[str, Any]) -> dict[str, Any]:
        scene, given = asked["scene"], asked["given"]
        key = json.dumps([scene, given])
        if key not in known:
            known[key] = stage.do("play", scene=scene, given=given)
        answer: dict[str, Any] = known[key]
        return answer

    return play


@pytest.mark.parametrize("big", [False, True], ids=["odd", "big"])
@pytest.mark.parametrize("number", suite.HIT)
def test_no_observation_breaks_a_hidden_test(number: int, big: bool) -> None:
    """Whatever is sent in a scene's name, each hidden test comes to a verdict, and soon."""
    lesson, play = lessons.find(number), real(number)
    found: list[str] = []
    with contextlib.closing(Judge(ProcessRooms(), lesson, Limits(judge_s=20))) as judge:
        for round_ in range(3 if big else 20):
            draw = random.Random(round_)

            def spoilt(asked: dict[str, Any], draw: random.Random = draw) -> dict[str, Any]:
                answer = play(asked)
                if draw.random() < 0.4:
                    return answer
                other = observations.spoilt(draw, answer["observation"], big=big)
                return {"observation": other, "stdout": ""}

            def result(name: str, told: dict[str, Any], round_: int = round_) -> None:
                if told["outcome"] == "error":
                    found.append(f"round {round_}: {name}: {told['error']}")

            judge.run(7 + round_ % 3, [test.id for test in lesson.tests], spoilt, result)
    assert found == []


def test_shapes_are_checked_by_exact_type() -> None:
    shape = {"a": [int, ...], "b": (None, str), "c": True, "d": object, "e": [str, int]}
    good: dict[str, Any] = {"a": [1, 2], "b": None, "c": True, "d": {}, "e": ["x", 1]}
    assert fits(good, shape)
    assert fits({**good, "a": [], "b": "x"}, shape)
    for key, other in (("a", [True]), ("b", 1), ("c", 1), ("e", ["x"]), ("e", None), ("f", 1)):
        assert not fits({**good, key: other}, shape)
    assert not fits([], shape)


def test_no_hidden_test_stays_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even when the judge is ended while it reads them, since the file can't be imported."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for _ in range(3):
        assert grade(from_bytes(b"1 / 0\n"), 10).problem is not None
    assert list(tmp_path.iterdir()) == []


# --- the filter for system calls ------------------------------------------------------------------------

OTHERS = """
import os, resource, sys
def tried(call):
    try:
        call()
    except PermissionError:
        return "refused"
    except OSError as exc:
        return exc.strerror
    return "done"
one = os.getppid()
print([tried(call) for call in (
    lambda: resource.prlimit(one, resource.RLIMIT_CPU, (0, 0)),
    lambda: os.sched_setaffinity(one, os.sched_getaffinity(0)),
    lambda: os.sched_setscheduler(one, os.SCHED_BATCH, os.sched_param(0)),
    lambda: os.setpriority(os.PRIO_PROCESS, one, 19),
    lambda: os.setpriority(os.PRIO_USER, 0, 19),
    lambda: os.setpriority(os.PRIO_PGRP, 0, 19),
)])
print([tried(call) for call in (
    lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    lambda: resource.prlimit(0, resource.RLIMIT_CORE, (0, 0)),
    lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    lambda: os.nice(1),
    lambda: os.setpriority(os.PRIO_PROCESS, 0, 19),
)])
raise KeyError(1)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in ("x86_64", "aarch64"),
    reason="written for the calls of these",
)
def test_a_submission_can_change_the_means_of_no_other_process() -> None:
    source = suite.base_of("right", 10) + "\n_ran = repair_tool_history\n"
    source += "def repair_tool_history(messages):\n" + "".join(
        f"    {line}\n" for line in OTHERS.strip().splitlines()
    )
    report = grade(from_bytes(source.encode()), 10, tests=["orphan_result"])
    first, second = report.tests[0].stdout.splitlines()
    assert first == str(["refused"] * 6)
    assert second == str(["done"] * 5)


# --- the list itself ---------------------------------------------------------------------------------------


def test_the_index_and_the_files_are_the_same_list() -> None:
    folder = suite.HERE / "files"
    files = {str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.py")}
    assert {attack.file or attack.name for attack in suite.attacks()} == files
    rows = tomllib.loads((suite.HERE / "attacks.toml").read_text(encoding="utf-8"))["attack"]
    assert len({row["name"] for row in rows}) == len(rows)
    ids = {n: {test.id for test in lessons.find(n).tests} | {"*"} for n in suite.HIT}
    for attack in suite.attacks():
        assert set(attack.hits) <= ids[attack.lesson], attack.name
        assert attack.path is None
