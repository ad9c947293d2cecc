"""What replaces what: a verdict is kept until a better founded one is there, and somebody has said yes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader import grading
from grader.cohort import standing
from grader.errors import StoreError
from grader.records import to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.batch.work import Job, Options, Slot
    from grader.cohort.standing import Standing
    from grader.cohort.store import Store
    from grader.lessons import Lesson
    from grader.records import Report, Submission


@dataclass(frozen=True)
class Change:
    """A verdict that another one replaces, or would. `before` and `after` are verdict and points.

    `tests` are those whose outcome differs: id, before, after. `reason`: "tests changed", "graded
    again", or "handed in anew".
    """

    student: str
    report: str
    before: tuple[str, int]
    after: tuple[str, int]
    tests: tuple[tuple[str, str, str], ...]
    reason: str


class Keeper:
    """Keeps reports by the rules of a batch, and the rows that they make.

    Args:
        store: where they are.
        lesson: what is graded.
        options: of the batch.
        runner: the name of the rooms; None where it isn't known.
    """

    def __init__(self, store: Store, lesson: Lesson, options: Options, runner: str | None) -> None:
        self._store, self._lesson, self._options, self._runner = store, lesson, options, runner
        self._audited = store.audited()
        self.rows: dict[str, Standing] = {}  # by name of the report
        self.errors: list[str] = []
        self.changes: dict[str, Change] = {}  # by name; held until somebody says yes
        self.replaced: list[Change] = []

    def wants(self, slot: Slot) -> bool:
        """Whether `only` lets this slot be graded."""
        only = self._options.only
        if not only or slot.student.key in only:
            return True
        stored = self._store.read(slot.name)
        verdict = stored.verdict if stored is not None else "error"
        return verdict in only

    def stands(self, slot: Slot, submission: Submission | None, problem: str) -> Report | None:
        """The verdict that there is on just this file under just these terms, held or not.

        Args:
            slot: whose.
            submission: what is to be graded; None where it can't be.
            problem: why it can't.
        """
        held = self._store.held(slot.name)
        if held is not None and self._same(held, submission, problem):
            return held
        stored = self._store.read(slot.name)
        if stored is None or not self._same(stored, submission, problem):
            return None
        if held is not None:
            self._store.drop(slot.name)  # it was for another file, or other terms
        return stored

    def why(self, slot: Slot, submission: Submission | None, problem: str) -> str:
        """Why this is graded again; empty where it never was. Arguments as for `stands`."""
        stored = self._store.read(slot.name)
        if stored is None:
            return ""
        return self._other(stored, submission, problem) or "as you asked"

    def _same(self, report: Report, submission: Submission | None, problem: str) -> bool:
        return not self._other(report, submission, problem)

    def _other(self, report: Report, submission: Submission | None, problem: str) -> str:
        """What is another than it was for a report; empty where nothing is, and it stands."""
        told, problem_was = report.grader, report.problem and report.problem.message
        reasons = {
            "no verdict before": incomplete(report),
            "the tests have changed": told.tests_sha256 != self._lesson.sha256,
            "the limits are others": told.limits != self._options.limits,
        }
        if submission is None:
            reasons["handed in anew"] = problem_was != problem
        else:
            seed = self._options.seed
            wanted = grading.seed_of(submission) if seed is None else seed
            runner = self._runner or told.runner  # where it isn't known, it is the same
            reasons |= {
                "handed in anew": report.submission.sha256 != submission.sha256,
                "the runner is another": told.runner != runner,
                "the seed is another": told.seed != wanted,
            }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def keep(self, slot: Slot, job: Job, report: Report) -> None:
        """A verdict from earlier, or from another of the group, holds for this slot."""
        stored = self._store.read(slot.name)
        if stored != report:
            self.settle(slot, job, report)
            return
        if (slot.name, report.started_at) not in self._audited:
            self._audit("graded", slot, report)  # a kill came between the report and its line
        self._row(slot, job, report)

    def settle(self, slot: Slot, job: Job, report: Report) -> None:
        """A new verdict: put it in its place, or hold it where it would change another.

        Raises:
            StoreError: it can't be written. What was there still holds.
        """
        stored = self._store.read(slot.name)
        if stored is None or incomplete(stored):
            self._store.write(slot.name, report)
            self._audit("graded", slot, report)
        elif stored.submission.sha256 != report.submission.sha256:
            self._store.write(slot.name, report)
            self._audit("replaced", slot, report, replaced=_grade(stored), why="handed in anew")
            if _differs(stored, report):
                self.replaced.append(_change(slot, stored, report, "handed in anew"))
        elif not _differs(stored, report):
            self._store.write(slot.name, report)
            self._audit("confirmed", slot, report)
        else:
            changed = stored.grader.tests_sha256 != report.grader.tests_sha256
            reason = "tests changed" if changed else "graded again"
            if self._store.held(slot.name) != report:
                self._store.hold(slot.name, report)
                self._audit("held", slot, report, stands=_grade(stored), why=reason)
            self.changes[slot.name] = _change(slot, stored, report, reason)
            report = stored
        self._row(slot, job, report)

    def give_up(self, slot: Slot, job: Job) -> None:
        """No verdict was to be had. Whatever verdict there is stays.

        Raises:
            StoreError: the report that says so can't be written.
        """
        report, stored = job.last_report, self._store.read(slot.name)
        judged = report is not None and report.verdict == "fail"  # though some tests have none
        if report is not None and judged and (stored is None or incomplete(stored)):
            self._store.write(slot.name, report)
            self._audit("graded", slot, report, why=job.last_fault)
            self._row(slot, job, report)
            return
        self.errors.append(slot.student.key)
        if stored is not None and stored.verdict != "error":
            note = f"graded again, without a verdict; the earlier one stands ({job.last_fault})"
            self._row(slot, job, stored, note)
            self._audit("error", slot, stored, why=job.last_fault)
        elif report is not None:
            self._store.write(slot.name, report)
            self._row(slot, job, report)
            self._audit("error", slot, report, why=job.last_fault)
        else:
            self._row(slot, job, None, f"no verdict: {job.last_fault}", status="error")

    def replace(self, confirm: Callable[[tuple[Change, ...]], bool]) -> bool:
        """Ask whether the verdicts that are held may count, and let them. Gives the answer.

        Raises:
            StoreError: one can't be moved.
        """
        self.changes = dict(sorted(self.changes.items(), key=lambda item: item[1].student))
        if not self.changes or not confirm(tuple(self.changes.values())):
            return False
        for name, change in self.changes.items():
            self._store.release(name)
            report = self._store.read(name)
            if report is None:
                raise StoreError(f"{name}: the report that was held can't be read.")
            before = {"verdict": change.before[0], "points": change.before[1]}
            row = self.rows[name]
            self._store.audit("replaced", name, **_told(report), replaced=before, why=change.reason)
            self.rows[name] = standing.again(row, report, self._lesson.tests)
        return True

    def look(self, job: Job) -> None:
        """The rows of what was not graded in this batch: from the reports, where there are some."""
        for slot in job.slots:
            if slot.name not in self.rows:
                self._row(slot, job, self._store.read(slot.name))

    def _row(
        self, slot: Slot, job: Job, report: Report | None, note: str = "", **changes: Any
    ) -> None:
        self.rows[slot.name] = standing.row(
            slot.student,
            slot.number,
            report,
            self._lesson.tests,
            name=slot.name,
            likeness=job.likeness,
            notes=[note],
            **changes,
        )

    def _audit(self, event: str, slot: Slot, report: Report, **more: Any) -> None:
        told = {"student": slot.student.key, "attempt": slot.number, **_told(report)}
        self._store.audit(event, slot.name, **told, **more)


def incomplete(report: Report) -> bool:
    """Whether a fault of ours left something open: no verdict, or a test without one."""
    return report.verdict == "error" or any(test.outcome == "error" for test in report.tests)


def _told(report: Report) -> dict[str, Any]:
    """What an audit line says of a report."""
    grader = report.grader
    return {
        **_grade(report),
        "submission_sha256": report.submission.sha256,
        "tests_sha256": grader.tests_sha256,
        "image": grader.image,
        "runner": grader.runner,
        "python": grader.python,
        "seed": grader.seed,
        "limits": to_json(grader.limits),
        "grader": grader.version,
        "started_at": report.started_at,
    }


def _grade(report: Report) -> dict[str, Any]:
    return {"verdict": report.verdict, "points": report.score.points}


def _outcomes(report: Report) -> dict[str, str]:
    return {test.id: test.outcome for test in report.tests}


def _differs(before: Report, after: Report) -> bool:
    return _grade(before) != _grade(after) or _outcomes(before) != _outcomes(after)


def _change(slot: Slot, before: Report, after: Report, reason: str) -> Change:
    old, new = _outcomes(before), _outcomes(after)
    tests = [(name, old.get(name, "none"), new.get(name, "none")) for name in {**old, **new}]
    return Change(
        slot.student.key,
        slot.name,
        (before.verdict, before.score.points),
        (after.verdict, after.score.points),
        tuple(test for test in tests if test[1] != test[2]),
        reason,
    )
