"""grade_cohort(): a cohort, graded in parallel, kept on disk, gone on with where it stopped.

`work` says what is to be graded, `running` has it graded, `keeping` decides what replaces what, `deciding`
writes overrides into the audit, `results` writes what there is to see.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader import lessons
from grader import rooms as runners
from grader.batch import work
from grader.batch.keeping import Change, Keeper
from grader.batch.results import Results
from grader.batch.running import Run
from grader.batch.work import FarRooms, Options
from grader.cohort import collecting, overrides, roster
from grader.cohort.progress import Quiet
from grader.cohort.store import Store
from grader.errors import UsageError
from grader.records import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor

    from grader.batch.deciding import Decided
    from grader.batch.results import Page
    from grader.cohort.entries import SourceLimits
    from grader.cohort.progress import Progress
    from grader.cohort.standing import Standing
    from grader.lessons import Lesson
    from grader.rooms import Rooms

__all__ = ["BatchResult", "Change", "FarRooms", "grade_cohort"]


@dataclass(frozen=True)
class BatchResult:
    """What a batch did.

    `graded` files were graded now, `kept` ones earlier; `again` says why, and how many, of those that were
    graded before. `errors` are students for whom this batch found no verdict, `missing` those who handed in
    nothing, `strangers` those who are not on the roster. `changes` would change a verdict: they count if
    `applied`, and are held otherwise. `replaced` are grades of files that were handed in anew. `decided`
    tells of overrides. `rows` are where everybody stands; `notes` what else to read; `written` the files
    there are now.
    """

    rows: tuple[Standing, ...]
    graded: int
    kept: int
    again: tuple[tuple[str, int], ...]
    errors: tuple[str, ...]
    missing: tuple[str, ...]
    strangers: tuple[str, ...]
    changes: tuple[Change, ...]
    applied: bool
    replaced: tuple[Change, ...]
    decided: Decided
    interrupted: bool
    notes: tuple[str, ...]
    written: tuple[Path, ...]

    @property
    def ok(self) -> bool:
        """Whether every submission has a verdict, whatever it is."""
        return not self.errors and not self.interrupted


def grade_cohort(
    sources: Sequence[str | os.PathLike[str]],
    lesson: int | Lesson,
    out: str | os.PathLike[str],
    *,
    rooms: Rooms | Callable[[], Rooms] | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    layout: str | None = None,
    attempt: str = "latest",
    roster_file: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    limits: Limits | None = None,
    retries: int = 2,
    regrade: bool = False,
    only: Sequence[str] = (),
    gradebook: Mapping[str, str | os.PathLike[str]] | None = None,
    column: str | None = None,
    confirm: Callable[[tuple[Change, ...]], bool] = lambda _: False,
    progress: Progress | None = None,
    page: Page | None = None,
    source_limits: SourceLimits | None = None,
) -> BatchResult:
    """Grade everybody in `sources`; go on where an earlier batch on `out` stopped.

    Args:
        sources: folders, archives, files, in any layout.
        lesson: its number, or one from `lessons.find`.
        out: the folder for reports and results; nobody else may be at work on it.
        rooms: where to grade; containers by default. For an executor in other processes: `FarRooms`, or
            any function that can be sent there and opens some, called once in each process.
        executor: where gradings run; threads by default. It is not shut down.
        workers: how many gradings at a time; the processors of this machine by default.
        layout: one of `cohort.layouts.LAYOUTS`, where it isn't to be recognised.
        attempt: "latest", "best" or "all".
        roster_file: a CSV of who is in the course.
        seed: what the tests' values are drawn from; None: from each submission's own hash.
        limits: what a submission may use; times in seconds, sizes in bytes.
        retries: how often a grading that ended in an error of ours is tried again.
        regrade: also grade what is graded already.
        only: "error", "fail", or keys of students: nobody else is graded.
        gradebook: platform -> its export, to be filled in.
        column: Canvas's column, where its headings don't tell.
        confirm: asked before verdicts are replaced; what it refuses is held for the next time.
        progress: told how far it is.
        page: makes index.html from cohort.json's content, the reports by row, and sources to compare.
        source_limits: what an archive may hold.

    Raises:
        UsageError: a source, an option, a file of the instructor's is off, `out` holds another lesson,
            or another batch is at work.
        LessonError: the lesson's folder is broken.
        RoomError: there are no containers to grade in.
        StoreError: the results can't be written.
    """
    lesson = lesson if isinstance(lesson, lessons.Lesson) else lessons.find(lesson)
    options = Options(
        attempt=attempt,
        seed=seed,
        limits=limits or Limits(),
        retries=retries,
        regrade=regrade,
        only=tuple(only),
        workers=workers or os.cpu_count() or 1,
    )
    _check(options)
    books = {name: Path(path) for name, path in (gradebook or {}).items()}
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(Store(out))
        _check_lesson(store, lesson)
        cohort = collecting.collect(
            sources,
            stack.enter_context(store.spool()),
            layout=layout,
            roster=None if roster_file is None else roster.read(Path(roster_file)),
            limits=source_limits,
            skip=store.folder,
        )
        decided = overrides.read(store.folder, [s.key for s in cohort.students], lesson.tests)
        _check_only(options, [student.key for student in cohort.students])
        results = Results(store, lesson, options, cohort, column)
        results.check(books)
        where = _where(rooms, executor, options, stack)
        keeper = Keeper(store, lesson, options, getattr(where, "name", None))
        run = Run(lesson, where, options, keeper, progress or Quiet())
        jobs = work.jobs(work.slots(cohort, attempt))
        run.all(jobs, executor)
        for job in jobs:
            keeper.look(job)
        applied = not run.interrupted and keeper.replace(confirm)
        results.settle(jobs, keeper.rows, decided)
        written = results.write(where, page, books)
    return BatchResult(
        rows=results.rows,
        graded=run.graded,
        kept=run.kept,
        again=tuple(run.again.most_common()),
        errors=tuple(sorted(set(keeper.errors))),
        missing=tuple(row.student for row in results.rows if row.status == "missing"),
        strangers=cohort.strangers,
        changes=tuple(keeper.changes.values()),
        applied=applied,
        replaced=tuple(keeper.replaced),
        decided=results.decided,
        interrupted=run.interrupted,
        notes=(*cohort.refused, *results.notes, *run.notes),
        written=tuple(written),
    )


def _where(
    rooms: Rooms | Callable[[], Rooms] | None,
    executor: Executor | None,
    options: Options,
    stack: contextlib.ExitStack,
) -> Rooms | Callable[[], Rooms]:
    """The rooms that were given, or containers: here, or where the executor's gradings run."""
    if rooms is not None:
        return rooms
    if executor is not None:
        return FarRooms("docker", options.limits)
    chosen = runners.choose("docker", limits=options.limits, warn=lambda _: None)
    stack.callback(chosen.close)
    return chosen


def _check(options: Options) -> None:
    if options.attempt not in ("latest", "best", "all"):
        raise UsageError(
            f"{options.attempt!r} is no choice of attempts.", help="Say latest, best or all."
        )
    if options.workers < 1 or options.retries < 0:
        raise UsageError("It takes at least one worker, and no fewer than 0 retries.")


def _check_lesson(store: Store, lesson: Lesson) -> None:
    """See that the folder is no other lesson's: a report of one must never stand for, or replace, another's."""
    others = sorted(store.lessons() - {lesson.number})
    if others:
        noun = "lesson" if len(others) == 1 else "lessons"
        raise UsageError(
            f"{store.folder} holds {noun} {', '.join(map(str, others))}; give another --out.",
            help="Each lesson has a folder of its own; nothing was graded, nothing written.",
        )


def _check_only(options: Options, keys: Sequence[str]) -> None:
    unknown = [name for name in options.only if name not in ("error", "fail", *keys)]
    if unknown:
        raise UsageError(
            f"There is no student {unknown[0]!r} to grade only.",
            help="Say error, fail, or a student as grades.csv has them.",
        )
