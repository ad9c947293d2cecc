"""The loop of a batch: files read just ahead of the workers, verdicts kept as they come, a clean end."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, cast

from grader.batch import work
from grader.batch.keeping import incomplete
from grader.cohort import likeness
from grader.errors import LessonError, StoreError, SubmissionError, UsageError
from grader.records import Problem
from grader.reporting import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from grader.batch.keeping import Keeper
    from grader.batch.work import Job, MakeRooms, Options
    from grader.cohort.progress import Progress
    from grader.lessons import Lesson
    from grader.records import Report, Submission
    from grader.rooms import Rooms

PAUSES_S = (2.0, 10.0, 30.0)  # before an error is tried again: an engine may be starting
_AHEAD = 2  # files read and waiting, for each worker
_DISK_FAULTS = 3  # reports one after the other that could not be written: it is the disk
_LOOK_S = 0.5  # between two looks at whether somebody pressed Ctrl-C, where waiting doesn't notice


class Run:
    """One run over the jobs of a batch.

    Args:
        lesson: what is graded.
        rooms: where; or what opens some in another process.
        options: how.
        keeper: of the verdicts.
        progress: who is told.
    """

    def __init__(
        self,
        lesson: Lesson,
        rooms: Rooms | MakeRooms,
        options: Options,
        keeper: Keeper,
        progress: Progress,
    ) -> None:
        self._lesson, self._rooms, self._options = lesson, rooms, options
        self._keeper, self._progress = keeper, progress
        self._tracked: work.Tracked | None = None
        self._made: Rooms | None = None  # opened here, so closed here
        self._near: Callable[[Submission, int | None], Report] | None = None
        self._failed: list[Job] = []
        self._disk_faults = 0
        self._running: dict[Future[Report], Job] = {}
        self.graded = self.kept = 0
        self.again: Counter[str] = Counter()  # gradings of what was graded before, by reason
        self.interrupted = False
        self._given_up: list[str] = []  # why, for each file that was not graded to the end

    @property
    def notes(self) -> tuple[str, ...]:
        """Why there are files whose grading did not come to its end, if there are any."""
        if not self._given_up:
            return ()
        return (f"{len(self._given_up)} not graded to the end: {_most(self._given_up)}",)

    def all(self, jobs: Sequence[Job], executor: Executor | None) -> None:
        """Grade whatever has no verdict yet. Ctrl-C ends it early; what is known by then is kept.

        Raises:
            LessonError, UsageError: nothing can be graded.
            StoreError: reports can't be written.
        """
        own = ThreadPoolExecutor(self._options.workers, "lab_check") if executor is None else None
        bench = self._bench(own or executor)
        self._progress.begin(len(jobs))
        try:
            self._rounds(jobs, cast("Executor", own or executor))
        except KeyboardInterrupt:
            self._stop()
        finally:
            for future in self._running:
                future.cancel()
            if own is not None:
                own.shutdown(wait=True, cancel_futures=True)
            if bench is not None:
                bench.close()
            if self._made is not None:
                self._made.close()
            self._progress.end()

    def _bench(self, executor: Executor | None) -> work.Bench | None:
        """Where threads of this process grade; None where the gradings run in another."""
        if not isinstance(executor, ThreadPoolExecutor):
            return None
        opened = work.opened(self._rooms)
        self._made = opened if opened is not self._rooms else None
        self._tracked = work.Tracked(opened)
        bench = work.Bench(self._tracked, self._lesson, self._options.limits)
        self._near = bench.grade
        return bench

    def _submit(self, submission: Submission, executor: Executor) -> Future[Report]:
        options = self._options
        if self._near is not None:
            return executor.submit(self._near, submission, options.seed)
        return executor.submit(
            work.grade_far, submission, self._lesson, self._rooms, options.seed, options.limits
        )

    def _rounds(self, jobs: Sequence[Job], executor: Executor) -> None:
        """All jobs once, and those that ended in an error of ours again, after a pause."""
        for tries in range(self._options.retries + 1):
            last = tries == self._options.retries
            self._failed = []
            self._once(iter(jobs), executor, last=last)
            jobs = self._failed
            if not jobs or last:
                return
            pause_s = PAUSES_S[min(tries, len(PAUSES_S) - 1)]
            self._progress.say(
                f"{len(jobs)} without a verdict; trying again in {pause_s:g} s."
                f" {_most(job.last_fault for job in jobs)}"
            )
            time.sleep(pause_s)

    def _once(self, waiting: Iterator[Job], executor: Executor, *, last: bool) -> None:
        running = self._running
        while True:
            while len(running) < self._options.workers * _AHEAD:
                job = next(waiting, None)
                if job is None:
                    break
                self._start(job, executor, last=last)
            if not running:
                return
            for future in wait(running, _LOOK_S, FIRST_COMPLETED).done:
                self._finish(running.pop(future), future, last=last)

    def _start(self, job: Job, executor: Executor, *, last: bool) -> None:
        """Read one file; submit it where no verdict stands for everybody whose it is."""
        attempt = job.slots[0].attempt
        submission: Submission | None = None
        problem = Problem("not_a_file", attempt.problem, None, attempt.help)
        if attempt.path is not None:
            try:
                submission = work.read(
                    attempt.path, attempt.name, self._options.limits.submission_bytes
                )
                job.likeness = likeness.of(submission.text)
            except SubmissionError as exc:
                problem = Problem(exc.kind, exc.message, exc.line, exc.help)
        standing = self._standing(job, submission, problem.message)
        if standing is not None:
            self._settle(job, standing, kept=True, last=last)
            return
        if not any(map(self._keeper.wants, job.slots)):
            self._keeper.look(job)
            self.kept += self._told(job, kept=True)
            return
        job.why = self._why(job, submission, problem.message)
        if submission is None:
            report = work.without_rooms(problem, self._lesson, self._rooms, self._options.limits)
            self._settle(job, report, kept=False, last=last)
        else:
            try:
                future = self._submit(submission, executor)
            except RuntimeError as exc:  # the executor is broken or was shut down
                self._fault(job, f"{type(exc).__name__}: {exc}", None, last=last)
            else:
                self._running[future] = job

    def _standing(self, job: Job, submission: Submission | None, problem: str) -> Report | None:
        """The verdict that holds already for one of these, and so for all."""
        if self._options.regrade:
            return None
        found = (self._keeper.stands(slot, submission, problem) for slot in job.slots)
        return next((report for report in found if report is not None), None)

    def _why(self, job: Job, submission: Submission | None, problem: str) -> str:
        """Why it is graded again, where it is; of a retry, what was the reason at first."""
        reasons = (self._keeper.why(slot, submission, problem) for slot in job.slots)
        return job.why or next(filter(None, reasons), "")

    def _finish(self, job: Job, future: Future[Report], *, last: bool) -> None:
        try:
            report = future.result()
        except (LessonError, UsageError):
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # noqa: BLE001 - a lost worker costs one grading, whatever it raises
            self._fault(job, f"{type(exc).__name__}: {exc}", None, last=last)
            return
        if incomplete(report):
            told = next(iter(report.notes), "") or next(
                (test.message for test in report.tests if test.outcome == "error"), ""
            )
            # What the student is told of it first is nothing to the instructor.
            self._fault(job, told.removeprefix(OURS.format("")), report, last=last)
        else:
            self._settle(job, report, kept=False, last=last)

    def _settle(self, job: Job, report: Report, *, kept: bool, last: bool) -> None:
        try:
            for slot in job.slots:
                if kept:
                    self._keeper.keep(slot, job, report)
                else:
                    self._keeper.settle(slot, job, report)
        except StoreError as exc:
            self._disk(exc)
            self._fault(job, exc.message, None, last=last)
            return
        self._disk_faults = 0
        self.kept += kept
        self.graded += not kept
        if job.why and not kept:
            self.again[job.why] += 1
        self._told(job, kept=kept)

    def _fault(self, job: Job, message: str, report: Report | None, *, last: bool) -> None:
        """No verdict, and it is ours. Tried again in the next round, or given up in the last."""
        job.last_fault, job.last_report = message, report
        if not last:
            self._failed.append(job)
            return
        for slot in job.slots:
            try:
                self._keeper.give_up(slot, job)
            except StoreError as exc:
                self._disk(exc)
        job.last_report = None
        self._given_up.append(message)
        self._told(job, kept=False)

    def _disk(self, exc: StoreError) -> None:
        self._disk_faults += 1
        if self._disk_faults >= _DISK_FAULTS:
            raise exc

    def _told(self, job: Job, *, kept: bool) -> bool:
        """Tell of one more file; give whether it has a report."""
        row = self._keeper.rows.get(job.slots[0].name)
        pending = row is not None and row.status == "pending"
        verdict = "pending" if pending else (row.verdict if row is not None else None) or "error"
        self._progress.done(verdict, kept=kept and not pending)
        return not pending

    def _stop(self) -> None:
        """After Ctrl-C: nothing new; what is at work may end. After a second one, it may not."""
        self.interrupted = True
        for future in list(self._running):
            if future.cancel():
                del self._running[future]
        if self._running:
            self._progress.say(
                f"Stopping: {len(self._running)} at work may end; Ctrl-C again leaves them."
            )
        try:
            while self._running:
                for future in wait(self._running, _LOOK_S, FIRST_COMPLETED).done:
                    self._finish(self._running.pop(future), future, last=False)
        except KeyboardInterrupt:
            if self._tracked is not None:
                self._tracked.close_all()


def _most(faults: Iterable[str]) -> str:
    """The reason that is given most often: with an engine gone it is all of them, a few hundred times."""
    counted = Counter(faults)
    (told, count), *others = counted.most_common()
    if not others:
        return told
    return f"{count} times: {told} ({len(others)} other reason{'s' if len(others) > 1 else ''})"
