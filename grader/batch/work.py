"""The work of a batch: who needs grading, and the grading of one file, wherever it runs."""

from __future__ import annotations

import dataclasses
import io
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from grader import grading
from grader import rooms as runners
from grader import submission as submissions
from grader.cohort import naming
from grader.errors import SubmissionError
from grader.judging import Judge
from grader.records import Limits, Problem, Submission

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.cohort.people import Attempt, Cohort, Student
    from grader.lessons import Lesson
    from grader.records import Report
    from grader.rooms import Room, Rooms

    MakeRooms = Callable[[], Rooms]

_BENCHES: dict[Any, Bench] = {}  # of this process, where it is another than the batch's
_BENCHES_LOCK = threading.Lock()


@dataclass(frozen=True)
class Options:
    """How a batch is run. See `grade_cohort`."""

    attempt: str = "latest"
    seed: int | None = None
    limits: Limits = field(default_factory=Limits)
    retries: int = 2
    regrade: bool = False
    only: tuple[str, ...] = ()
    workers: int = 1


@dataclass(frozen=True)
class Slot:
    """One try of one student, and the name of its report."""

    student: Student
    number: int
    name: str

    @property
    def attempt(self) -> Attempt:
        """What was handed in."""
        return self.student.attempts[self.number - 1]


@dataclass
class Job:
    """One file and everybody whose it is. Its content is not kept here."""

    slots: tuple[Slot, ...]
    likeness: str = ""
    why: str = ""  # it is graded again
    last_fault: str = ""
    last_report: Report | None = None


def slots(cohort: Cohort, policy: str) -> list[Slot]:
    """Everything that is to have a report, in the students' order.

    Args:
        cohort: everybody.
        policy: "latest", "best" or "all".
    """
    found = []
    for student in cohort.students:
        count = len(student.attempts)
        for number in range(1 if policy != "latest" else max(count, 1), count + 1):
            name = f"{naming.file_name(student.key)}.{number}"
            found.append(Slot(student, number, name))
    return found


def jobs(wanted: list[Slot]) -> list[Job]:
    """The slots by file: what a group handed in is graded once."""
    by_file: dict[object, list[Slot]] = {}
    for slot in wanted:
        shared = slot.attempt.path is not None and slot.student.group
        by_file.setdefault(slot.attempt.path if shared else slot.name, []).append(slot)
    return [Job(tuple(of_file)) for of_file in by_file.values()]


def read(path: Path, name: str, limit: int) -> Submission:
    """A handed-in file under the name that the student gave it.

    Raises:
        SubmissionError: it can't be graded at all.
    """
    try:
        with path.open("rb") as stream:
            return submissions.read_stream(stream, limit, name)
    except OSError as exc:
        raise SubmissionError("not_a_file", f"{name} can't be read: {exc.strerror}.") from exc


class Bench:
    """Where gradings are done: rooms, and judges that are kept warm, one for each thread at work.

    Args:
        rooms: where stages and judges come from; not closed here.
        lesson: what is graded.
        limits: of a submission.
    """

    def __init__(self, rooms: Rooms, lesson: Lesson, limits: Limits) -> None:
        self._rooms, self._lesson, self._limits = rooms, lesson, limits
        self._free: list[Judge] = []
        self._lock = threading.Lock()

    def grade(self, submission: Submission, seed: int | None) -> Report:
        """Grade one submission; may be called from several threads at once."""
        with self._lock:
            judge = self._free.pop() if self._free else None
        judge = judge or Judge(self._rooms, self._lesson, self._limits)
        sound = False
        try:
            report = grading.grade(
                submission,
                self._lesson,
                rooms=self._rooms,
                seed=seed,
                limits=self._limits,
                judge=judge,
            )
            sound = report.verdict != "error"
        finally:
            if sound:
                with self._lock:
                    self._free.append(judge)
            else:
                judge.close()
        return report

    def close(self) -> None:
        """End the judges; none may be at work."""
        while self._free:
            self._free.pop().close()


def grade_far(
    submission: Submission,
    lesson: Lesson,
    rooms: Rooms | MakeRooms,
    seed: int | None,
    limits: Limits,
) -> Report:
    """Grade one submission in a worker somewhere else, which keeps its rooms for the next."""
    key = (repr(rooms), lesson.sha256, limits)
    with _BENCHES_LOCK:
        if key not in _BENCHES:
            _BENCHES[key] = Bench(opened(rooms), lesson, limits)
    return _BENCHES[key].grade(submission, seed)


def opened(rooms: Rooms | MakeRooms) -> Rooms:
    """Rooms, or those that a function or a class makes."""
    made = hasattr(rooms, "open_stage") and not isinstance(rooms, type)
    return cast("Rooms", rooms) if made else cast("MakeRooms", rooms)()


@dataclass(frozen=True)
class FarRooms:
    """Rooms of another process or machine, by name: opened there, when they are called.

    `name` is a runner that `rooms.choose` knows; `limits` are those of its containers.
    """

    name: str
    limits: Limits = field(default_factory=Limits)

    def __call__(self) -> Rooms:
        """Open them.

        Raises:
            RoomError: they can't be had there.
        """
        return runners.choose(self.name, limits=self.limits, warn=lambda _: None)


def without_rooms(problem: Problem, lesson: Lesson, rooms: Any, limits: Limits) -> Report:
    """The report on a file that can't be graded at all: the problem, and no test run."""
    shut = _Shut(getattr(rooms, "name", ""), getattr(rooms, "image", None))
    report = grading.grade(io.BytesIO(), lesson, rooms=shut, limits=limits)
    return dataclasses.replace(report, problem=problem)


@dataclass
class _Shut:
    """Rooms by name only."""

    name: str
    image: str | None

    def open_stage(self) -> Room:
        """Is not called: an empty file opens no room."""
        raise AssertionError

    def open_judge(self) -> Room:
        """As `open_stage`."""
        raise AssertionError

    def close(self) -> None:
        """There is nothing to close."""


class Tracked:
    """Rooms that remember which of them are open, so that they can be closed all at once.

    Args:
        rooms: where they come from.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._open: set[Room] = set()
        self.name, self.image = rooms.name, rooms.image

    def open_stage(self) -> Room:
        """See `Rooms`."""
        return self._kept(self._rooms.open_stage())

    def open_judge(self) -> Room:
        """See `Rooms`."""
        return self._kept(self._rooms.open_judge())

    def close(self) -> None:
        """See `Rooms`."""
        self._rooms.close()

    def close_all(self) -> None:
        """Close whatever is open; gradings at work there end without a verdict."""
        for room in list(self._open):
            room.close()

    def _kept(self, room: Room) -> Room:
        tracked = _TrackedRoom(room, self._open)
        self._open.add(tracked)
        return tracked


class _TrackedRoom:
    def __init__(self, room: Room, among: set[Room]) -> None:
        self._room, self._among = room, among
        self.send, self.receive, self.receive_bytes = room.send, room.receive, room.receive_bytes

    def close(self) -> None:
        """See `Room`."""
        self._among.discard(self)
        self._room.close()
