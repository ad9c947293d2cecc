"""The attacks, what is expected of each, and how one is run and measured.

An attack is a file under files/<group>/: what a hostile student writes below a harness that is right, or
below the starter. attacks.toml says which, and what the verdicts have to be. Nothing in here is ever run
outside of a room of the grader's.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import secrets
import shutil
import threading
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import lessons, render
from grader.grading import grade
from grader.judging import Judge
from grader.records import Limits
from grader.submission import from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.lessons import Lesson
    from grader.records import Report
    from grader.rooms import Rooms

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
GROUPS = ("forge", "read", "report", "exhaust", "escape", "malformed")
# So that what never comes back costs seconds and not minutes; nothing else is less than in real use.
LIMITS = Limits(scene_cpu_s=1, scene_wall_s=5.0, hurried_wall_s=4.0, total_s=120.0)
# The hidden test in which a right answer with an attack in it misbehaves, and how it knows it.
HIT = {
    7: "provider_failure",
    9: "max_turns_keeps_second_steer",
    10: "view_is_repaired_record_is_not",
}
_RIGHT_BUT_ONCE = '''

_right = globals().get("repair_tool_history")
_right_context = context_for_model


def context_for_model(messages):
    """Right everywhere but in one hidden test, which it knows by a message of that test."""
    if any(str(m.get("error_message", "")).startswith("503 overloaded") for m in messages):
        return _attack(messages)
    return _right_context(messages)
'''
_PUBLIC = (
    "grader/inside",
    "grader/lab",
    "damaged",
    *(f"{place}/lesson_{n:02}" for n in HIT for place in ("starters", "tests/solutions")),
)
_MIN_SECRET = 30  # characters of a line; a shorter one may stand anywhere


@dataclass(frozen=True)
class Attack:
    """One attack and its right verdict.

    `base` is what the attack stands below: "right", "starter", "idle" (see `base_of`) or "". `hits` are the tests that
    have to fail, each with its kind or kinds ("timeout", "crash|memory", "" for any); "*" is every
    test. `problem` is the kind, or kinds, of the one problem that stops the whole file. All other tests have to
    come out as they do for the base alone.
    """

    name: str
    base: str = "right"
    lesson: int = 10
    hits: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    seed: int | None = 7
    docker_only: str = ""  # why
    needs_root: str = ""  # why it is not run in plain processes of an ordinary user
    local_hits: Mapping[str, str] | None = None  # where a process has other means than a container
    limit: str = ""  # what is known not to hold, and why
    file: str = ""  # under files/, where it is not the name
    path: Path | None = None  # of a file that is malformed as a file

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]

    @property
    def source(self) -> bytes:
        text = (HERE / "files" / f"{self.file or self.name}.py").read_text(encoding="utf-8")
        if "def _attack(" in text:
            text = _RIGHT_BUT_ONCE + "\n\n" + text
        else:
            text = '\n\n_right = globals().get("repair_tool_history")\n\n' + text
        return (base_of(self.base, self.lesson) + text).encode()

    def runs_on(self, runner: str) -> str:
        """Why it is not run there; "" where it is."""
        if runner == "local" and self.docker_only:
            return self.docker_only
        if runner == "local" and self.needs_root and os.geteuid() != 0:
            return self.needs_root
        return ""

    def due(self, runner: str) -> Mapping[str, str]:
        """The tests that have to fail there."""
        return self.hits if runner == "docker" or self.local_hits is None else self.local_hits


@dataclass
class Result:
    """How one attack went on one runner."""

    wrong: list[str] = field(default_factory=list)  # where the verdicts are not the right ones
    false_passes: list[str] = field(default_factory=list)
    disturbed: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)

    @property
    def contained(self) -> bool:
        return not (self.wrong or self.false_passes or self.disturbed or self.leaked)


def base_of(base: str, lesson: int) -> str:
    """The harness that an attack stands below; "idle" is a starter whose gaps are filled, and wrong."""
    if base == "idle":
        return lessons.find(lesson).stand_in
    folder = {"right": "tests/solutions", "starter": "starters", "": ""}[base]
    if not folder:
        return ""
    return (ROOT / folder / f"lesson_{lesson:02}" / "harness.py").read_text(encoding="utf-8")


@functools.cache
def attacks() -> tuple[Attack, ...]:
    rows = tomllib.loads((HERE / "attacks.toml").read_text(encoding="utf-8"))["attack"]
    return tuple(_attack(row) for row in rows)


def _attack(row: dict[str, Any]) -> Attack:
    lesson = row.get("lesson", 10)
    for name in ("hits", "local_hits"):
        if isinstance(row.get(name), str):  # short for: the one test in which it misbehaves
            row[name] = {HIT[lesson]: row[name]}
        elif isinstance(row.get(name), list):
            row[name] = dict.fromkeys(row[name], "")
    return Attack(**row)


# --- secrets ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bait:
    """A copy of the lessons with canaries in it, and all that must not get out."""

    folder: Path
    secrets: tuple[str, ...]

    @functools.cached_property
    def lessons(self) -> dict[int, Lesson]:
        return {number: lessons.find(number, [self.folder]) for number in HIT}

    def found_in(self, text: str) -> list[str]:
        return [secret for secret in self.secrets if secret in text]


def bait(folder: Path) -> Bait:
    """Copy the lessons: a canary in each hidden test, in its constants, and in what no report shows."""
    folder.mkdir(mode=0o700, exist_ok=True)
    hidden: list[str] = []
    for number in HIT:
        name = f"lesson_{number:02}"
        shutil.copytree(ROOT / "hidden_tests" / name, folder / name)
        tests, toml = folder / name / f"test_{name}.py", folder / name / "lesson.toml"
        shown = toml.read_text(encoding="utf-8") + (folder / name / "scenes.py").read_text()
        hidden += _lines(tests.read_text(encoding="utf-8"), shown)
        tests.write_text(
            _with_canaries(tests.read_text(encoding="utf-8"), hidden), encoding="utf-8"
        )
        noted = toml.read_text(encoding="utf-8").split("[[rule]]\n")
        rules = [f'[[rule]]\nnote = "{canary(hidden)}"\n{rest}' for rest in noted[1:]]
        toml.write_text(f'note = "{canary(hidden)}"\n' + "".join([noted[0], *rules]), "utf-8")
    return Bait(folder, tuple(hidden))


def canary(hidden: list[str]) -> str:
    """A new word that stands nowhere else."""
    hidden.append(f"canary-{secrets.token_hex(8)}")
    return hidden[-1]


def _with_canaries(source: str, hidden: list[str]) -> str:
    source = re.sub(
        r'^(def test_\w+\(.*\n    """.*)$',
        lambda m: f"# {canary(hidden)}\n{m[1]}\n    _note = {canary(hidden)!r}  # {canary(hidden)}",
        source,
        flags=re.MULTILINE,
    )
    return f"{source}\n\nNOTES = [{canary(hidden)!r}, {{'canary': {canary(hidden)!r}}}]\n"


def _lines(tests: str, shown: str) -> Iterator[str]:
    """The lines of code of a hidden test module that stand nowhere else, and in no text that it shows."""
    public = shown + "".join(
        path.read_text(encoding="utf-8")
        for folder in _PUBLIC
        for path in (ROOT / folder).glob("*.py")
    )
    texts = {
        line
        for node in ast.walk(ast.parse(tests))
        if isinstance(node, (ast.Constant, ast.JoinedStr))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if node.end_lineno != node.lineno or isinstance(node, ast.JoinedStr)
    }
    found = set()
    for number, line in enumerate(map(str.strip, tests.splitlines()), 1):
        if (
            number not in texts
            and len(line) >= _MIN_SECRET
            and not line.startswith(("#", '"', "'"))
        ):
            found.add(line)
    yield from sorted(line for line in found if line not in public)


def channels(report: Report) -> str:
    """Everything that a student gets to see of a report, in every format that there is."""
    return "\n".join(render.renderer(name)(report) for name in render.FORMATS)


# --- running and measuring ---------------------------------------------------------------------------


@functools.cache
def alone(base: str, lesson: int, seed: int | None = 7) -> Mapping[str, str]:
    """How each test comes out for a base without an attack. These are ours, and played in processes."""
    if not base:
        return {test.id: "fail" for test in lessons.find(lesson).tests}
    report = grade(from_bytes(base_of(base, lesson).encode()), lesson, seed=seed)
    return {test.id: test.outcome for test in report.tests}


class Judges:
    """Judges that are kept from one attack to the next, as a batch keeps them: one a thread and lesson."""

    def __init__(self, rooms: Rooms, lure: Bait) -> None:
        self._rooms, self._lure = rooms, lure
        self._own = threading.local()
        self._all: list[Judge] = []

    def of(self, lesson: int) -> Judge:
        """This thread's judge of a lesson."""
        kept: dict[int, Judge] = self._own.__dict__.setdefault("kept", {})
        if lesson not in kept:
            kept[lesson] = Judge(self._rooms, self._lure.lessons[lesson], LIMITS)
            self._all.append(kept[lesson])
        return kept[lesson]

    def close(self) -> None:
        for judge in self._all:
            judge.close()


def run(attack: Attack, rooms: Rooms, judges: Judges, lure: Bait) -> tuple[Report, Result]:
    """Grade an attack and measure what came of it."""
    submitted: Any = attack.path or from_bytes(attack.source)
    report = grade(
        submitted,
        lure.lessons[attack.lesson],
        rooms=rooms,
        seed=attack.seed,
        limits=LIMITS,
        judge=judges.of(attack.lesson),
    )
    return report, measured(attack, report, rooms.name, lure)


def measured(attack: Attack, report: Report, runner: str, lure: Bait) -> Result:
    """Compare a report with what is due."""
    result = Result(leaked=lure.found_in(channels(report)))
    problem = report.problem.kind if report.problem else ""
    if problem not in attack.problem.split("|"):
        result.wrong.append(f"problem {problem!r}: {report.problem and report.problem.message}")
    due = attack.due(runner)
    for test in report.tests:
        if attack.problem:
            if test.outcome != "not_run":
                result.wrong.append(f"{test.id}: {test.outcome}")
            continue
        hit = due.get(test.id, due.get("*"))
        wanted = alone(attack.base, attack.lesson)[test.id] if hit is None else "fail"
        if test.outcome == wanted and (not hit or test.kind in hit.split("|")):
            continue
        if test.outcome == "pass":
            result.false_passes.append(test.id)
        elif hit is None:
            result.disturbed.append(f"{test.id}: {test.outcome} {test.kind}: {test.message[:300]}")
        else:
            result.wrong.append(f"{test.id}: {test.outcome} {test.kind}: {test.message[:300]}")
    outcomes = {test.outcome for test in report.tests}
    verdict = "pass" if outcomes == {"pass"} else "fail"
    if report.verdict != verdict or "error" in outcomes:
        result.wrong.append(f"the verdict is {report.verdict}: {report.notes}")
    return result
