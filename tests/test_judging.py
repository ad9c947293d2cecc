"""A judge that is used again: as good as new each time, and told when it is broken off."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from grader import grade, lessons
from grader.errors import LessonError
from grader.grading import seed_of
from grader.judging import Judge
from grader.records import Limits, Report
from grader.rooms.process import ProcessRoom, ProcessRooms
from grader.submission import from_bytes

HERE = Path(__file__).parent
SOLUTION = (HERE / "solutions" / "lesson_10" / "harness.py").read_text(encoding="utf-8")
LESSON = lessons.find(10)


class CountingRooms(ProcessRooms):
    judges = 0

    def open_judge(self) -> ProcessRoom:
        self.judges += 1
        return super().open_judge()


@pytest.fixture
def rooms() -> CountingRooms:
    return CountingRooms()


@pytest.fixture
def judge(rooms: CountingRooms) -> Iterator[Judge]:
    with closing(Judge(rooms, LESSON, Limits())) as judge:
        yield judge


def verdicts(report: Report) -> list[tuple[str, str, str]]:
    return [(t.id, t.outcome, t.message) for t in report.tests]


def test_one_judge_for_many_gives_what_a_judge_each_gives(
    rooms: CountingRooms, judge: Judge
) -> None:
    for extra in ("", "def repair_tool_history(m): return m", "del INTERRUPTED", ""):
        submission = from_bytes(f"{SOLUTION}\n{extra}\n".encode())
        shared = grade(submission, LESSON, rooms=rooms, judge=judge, seed=None)
        alone = grade(submission, LESSON, seed=None)
        assert verdicts(shared) == verdicts(alone)
        assert shared.grader.seed == seed_of(submission)
    assert rooms.judges == 1


def test_a_run_that_is_broken_off_leaves_the_judge_fit(rooms: CountingRooms, judge: Judge) -> None:
    slow = from_bytes(
        f"{SOLUTION}\nimport time\ndef repair_tool_history(m): time.sleep(9)\n".encode()
    )
    limits = Limits(scene_wall_s=0.6, total_s=1.0)
    cut = grade(slow, LESSON, rooms=rooms, judge=judge, limits=limits)
    assert cut.verdict == "fail"
    assert "not_run" in {t.outcome for t in cut.tests}
    assert grade(from_bytes(SOLUTION.encode()), LESSON, rooms=rooms, judge=judge).verdict == "pass"
    assert rooms.judges == 1


def test_a_file_that_can_not_be_loaded_does_not_wear_it_out(
    rooms: CountingRooms, judge: Judge
) -> None:
    assert grade(from_bytes(b"1 / 0"), LESSON, rooms=rooms, judge=judge).problem is not None
    assert grade(from_bytes(SOLUTION.encode()), LESSON, rooms=rooms, judge=judge).verdict == "pass"
    assert rooms.judges == 1


def test_a_test_module_that_can_not_be_imported_is_told_to_its_author(tmp_path: Path) -> None:
    folder = tmp_path / "lesson_10"
    folder.mkdir()
    for path in LESSON.folder.glob("*.*"):
        (folder / path.name).write_bytes(path.read_bytes())
    tests = folder / LESSON.test_file
    text = tests.read_text(encoding="utf-8")
    tests.write_text(text.replace("import lab\n", "import lab, nothing_of_that_name\n", 1))
    with pytest.raises(LessonError) as caught:
        grade(from_bytes(SOLUTION.encode()), lessons.load(folder))
    assert "No module named 'nothing_of_that_name'" in caught.value.message
    assert str(tests) in caught.value.message


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("scenes.py", "def repair(", "def repair(nothing, ", "TypeError"),
        ("scenes.py", "    mend = actor.need(function)", "    1 / 0", "scenes.py:"),
        ("scenes.py", "def repair(", "def renamed(", "repair"),
        ("scenes.py", "import lab", "import lab, nothing_of_that_name", "nothing_of_that_name"),
        (
            "test_lesson_10.py",
            "    for name, record in redrawn",
            "    1 / 0\n    for name, record in redrawn",
            "ZeroDivisionError",
        ),
    ],
)
def test_a_scene_or_test_of_ours_that_raises_is_no_verdict(
    tmp_path: Path, file: str, old: str, new: str, says: str
) -> None:
    folder = tmp_path / "lesson_10"
    folder.mkdir()
    for path in LESSON.folder.glob("*.*"):
        (folder / path.name).write_bytes(path.read_bytes())
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    report = grade(from_bytes(SOLUTION.encode()), lessons.load(folder))
    assert report.verdict == "error"
    assert "fail" not in {t.outcome for t in report.tests}
    told = " ".join([*report.notes, *(t.message for t in report.tests)])
    assert says in told


@pytest.mark.skipif(sys.platform != "linux", reason="looks in /proc")
def test_a_judge_that_goes_round_and_round_is_ended_with_its_run() -> None:
    """A lesson's own fault. A run is a fork of the judge, and must not outlive it."""
    title = '"""A result that comes too late is moved up, not replaced."""'
    assert title in LESSON.test_source
    source = LESSON.test_source.replace(title, f"{title}\n    while True:\n        pass")
    endless = dataclasses.replace(LESSON, test_source=source)
    limits = Limits(judge_s=1.0)
    with closing(Judge(ProcessRooms(), endless, limits)) as judge:
        judge.start()
        assert judge._room is not None
        group = judge._room._process.pid  # type: ignore[attr-defined]
        report = grade(
            from_bytes(SOLUTION.encode()),
            endless,
            judge=judge,
            limits=limits,
            tests=["late_result"],
        )
        assert report.verdict == "error"
    deadline = time.monotonic() + 5  # a signal that was sent takes a moment
    while (left := _running(group)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == []


def _running(group: int) -> list[list[str]]:
    stats = [_read(path).rpartition(")")[2].split() for path in Path("/proc").glob("[0-9]*/stat")]
    return [fields[:3] for fields in stats if fields[2:3] == [str(group)] and fields[0] != "Z"]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
