"""One submission: the whole command beside plain pytest, and what a scene and a call for help cost."""

from __future__ import annotations

import statistics
import sys
import time
import types
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import plain
from benchmarks.measuring import Command, paired
from benchmarks.table import Row
from grader import grading, lab, lessons, staging
from grader.inside.actor import Actor
from grader.inside.console import Console
from grader.records import Limits
from grader.rooms import flags
from grader.rooms import image as images
from grader.rooms.process import ProcessRooms
from grader.submission import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.lessons import Lesson
    from grader.rooms import Room

ROOT = Path(__file__).resolve().parent.parent
LESSON = 10
SOLUTION = ROOT / "tests" / "solutions" / f"lesson_{LESSON:02}" / "harness.py"
_GIGABYTE = "import os\nfor _ in range(1 << 14):\n    os.write(1, b'x' * (1 << 16))\n"


def lab_check(python: str, *args: object) -> list[str]:
    """The command, as it is installed beside `python`."""
    return [str(Path(python).parent / "lab_check"), *map(str, args)]


def local(python: str, folder: Path, runs: int) -> Iterator[Row]:
    """Local runner: the whole process beside `python -m pytest` in the same environment."""
    plain.write(folder, lessons.find(LESSON), SOLUTION, [str(ROOT / "grader"), str(ROOT)])
    ours = Command(lab_check(python, "--lesson", LESSON, "--runner", "local", SOLUTION))
    theirs = Command([python, "-m", "pytest", "-q"], cwd=folder)
    pair = paired(ours.run, theirs.run, runs)
    yield Row.of("local: one submission / plain pytest", pair, at_most=1.3)


def docker(python: str, folder: Path, runs: int) -> Iterator[Row]:
    """Containers: the whole process beside `docker run --rm` of plain pytest in the same image."""
    inside = [f"{flags.ROOT}/grader", flags.ROOT]
    plain.write(folder, lessons.find(LESSON), SOLUTION, inside)
    ours = Command(
        lab_check(python, "--lesson", LESSON, "--runner", "docker", SOLUTION), machine=True
    )
    theirs = Command(docker_run(folder), machine=True)
    pair = paired(ours.run, theirs.run, runs)
    yield Row.of("docker: one submission / docker run of plain pytest", pair, at_most=1.4)


def docker_run(folder: Path) -> list[str]:
    """Plain pytest on what is in `folder`, in a container of the rooms' image."""
    path = f"{flags.ROOT}/site:{flags.ROOT}/grader:{flags.ROOT}"
    told = ["--network=none", "-v", f"{folder}:/work:ro", "-w", "/work", "-e", f"PYTHONPATH={path}"]
    pytest = ["python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return [client(), "run", "--rm", *told, images.IMAGE, *pytest]


def client() -> str:
    """Debian's client where there is one: another on PATH may speak too new a protocol."""
    debian = Path("/usr/bin/docker")
    return str(debian) if debian.exists() else "docker"


def start_up(python: str, runs: int) -> Iterator[Row]:
    """Asking for help, and a usage error, beside importing click."""
    click = Command([python, "-c", "import click"])
    for name, args, status in (("--help", ["--help"], 0), ("a usage error", ["--nonsense"], 2)):
        pair = paired(Command(lab_check(python, *args), expect=status).run, click.run, 3 * runs)
        yield Row.of(f"{name} / import click", pair, at_most=2.5)


def scene(runs: int) -> Iterator[Row]:
    """One scene on an open stage, beside the same calls made here: module body and scene."""
    lesson = lessons.find(LESSON)
    jobs, alone = _jobs(lesson), _Alone(lesson)
    over, own = [], []
    with closing(ProcessRooms()) as rooms, closing(_stage(lesson, rooms)) as stage:
        stage.do("load")
        for _ in range(max(3, runs)):
            for job in jobs:
                began = time.perf_counter()
                stage.do("play", **job)
                over.append(time.perf_counter() - began)
                began = time.perf_counter()
                alone.play(**job)
                own.append(time.perf_counter() - began)
    extra = [a - b for a, b in zip(over, own, strict=True)]
    yield Row(
        "a scene on an open stage, over its own time", statistics.median(extra) * 1000, 5.0, "ms"
    )


def memory(python: str, folder: Path) -> Iterator[Row]:
    """Peak memory of the command while a submission prints 1 GB, over a quiet run."""
    folder.mkdir()
    loud = folder / "harness.py"
    loud.write_text(SOLUTION.read_text(encoding="utf-8") + _GIGABYTE, encoding="utf-8")
    argv = ["--lesson", LESSON, "--runner", "local", "--test", "missing_result"]
    quiet = Command(lab_check(python, *argv, SOLUTION)).run()
    shouted = Command(lab_check(python, *argv, loud), expect=0).run()
    extra = shouted.peak_mb - quiet.peak_mb
    yield Row("peak memory while 1 GB is printed, over a quiet run", extra, 20.0, "MB")


def hang(python: str, folder: Path) -> Iterator[Row]:
    """A submission that never comes back, in all of its tests."""
    folder.mkdir()
    source = SOLUTION.read_text(encoding="utf-8")
    for head in ("def repair_tool_history(messages):", "def __init__(self, model,"):
        if source.count(head) != 1:
            raise RuntimeError(f"the solution has no single {head!r}")
    stuck = folder / "harness.py"
    stuck.write_text(
        f"{source}\n\ndef _stuck(*a, **k):\n    while True:\n        pass\n\n\n"
        "repair_tool_history = run_agent = Harness.__init__ = _stuck\n",
        encoding="utf-8",
    )
    took = Command(
        lab_check(python, "--lesson", LESSON, "--runner", "local", stuck), expect=1
    ).run()
    yield Row("a submission that hangs in all 14 tests", took.wall_s, 40.0, "s")


def _stage(lesson: Lesson, rooms: ProcessRooms) -> staging.Stage:
    limits = Limits(total_s=600.0)
    return staging.Stage(rooms, lesson, read(SOLUTION, limits.submission_bytes), limits)


class _Noted:
    """A stage's room that keeps the scenes it is asked to play."""

    def __init__(self, room: Room, jobs: list[dict[str, Any]]) -> None:
        self._room, self._jobs = room, jobs
        self.receive, self.receive_bytes, self.close = room.receive, room.receive_bytes, room.close

    def send(self, *values: Any) -> None:
        """Send each value as a frame. See `Room`."""
        job = values[-1]
        if job["op"] == "play":
            self._jobs += [
                {key: one[key] for key in ("scene", "given")}
                for one in (job, *job.get("ahead", ()))
            ]
        self._room.send(*values)


class _NotingRooms(ProcessRooms):
    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[dict[str, Any]] = []

    def open_stage(self) -> Any:
        """A stage, listened to."""
        return _Noted(super().open_stage(), self.jobs)


def _jobs(lesson: Lesson) -> list[dict[str, Any]]:
    """Every scene that a grading plays, with its values."""
    rooms = _NotingRooms()
    grading.grade(SOLUTION, lesson, rooms=rooms)
    return rooms.jobs


class _Alone:
    """What the submission itself does in a scene, done here: its module body, and its calls."""

    def __init__(self, lesson: Lesson) -> None:
        sys.modules["lab"] = lab
        for name, source in lesson.modules.items():
            module = sys.modules[name] = types.ModuleType(name)
            exec(compile(source, f"{name}.py", "exec"), module.__dict__)
        self._scenes: dict[str, Any] = {"__name__": "scenes"}
        exec(compile(lesson.scene_source, "scenes.py", "exec"), self._scenes)
        self._source = SOLUTION.read_text(encoding="utf-8")
        self._code = compile(self._source, "harness.py", "exec")

    def play(self, scene: str, given: dict[str, Any]) -> None:
        actor = Actor.load(self._code, self._source, Console(1, 1 << 20))
        self._scenes[scene](actor, **given)
