"""Where each student stands: one row a student (or a try), made from reports, overrides on top."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from sys import intern  # a row is kept for every student: equal words are one object
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.cohort.people import Student
    from grader.records import Report, TestCase, Verdict

Status = Literal["graded", "error", "missing", "pending"]


@dataclass(frozen=True)
class Applied:
    """An override that took effect."""

    test: str | None
    points: int
    reason: str
    who: str
    when: str


@dataclass(frozen=True)
class Standing:
    """One row of the results.

    `outcomes`, `wrong_answers`, `kinds` and `durations_s` are in the order of the lesson's tests.
    `graded_points` are the report's; `points` what counts, with overrides. `status`: "graded" there is
    a verdict; "error" the grader failed and there is none; "missing" nothing was handed in; "pending"
    not graded yet.
    """

    student: str
    name: str
    email: str
    status: Status
    verdict: Verdict | None = None
    points: int | None = None
    max_points: int = 0
    graded_points: int | None = None
    outcomes: tuple[str, ...] = ()
    wrong_answers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    durations_s: tuple[float, ...] = ()
    attempt: int = 0
    attempts: int = 0
    late: bool = False
    counts: bool = True
    file: str = ""
    sha256: str | None = None
    seed: int | None = None
    started_at: str = ""
    duration_s: float = 0.0
    problem: str = ""
    message: str = ""
    notes: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    report: str = ""
    likeness: str = ""
    overrides: tuple[Applied, ...] = ()


def row(
    student: Student,
    number: int,
    report: Report | None,
    tests: Sequence[TestCase],
    *,
    name: str = "",
    likeness: str = "",
    notes: Sequence[str] = (),
    status: Status | None = None,
) -> Standing:
    """One try of one student.

    Args:
        student: whose.
        number: of the try, from 1; 0 where nothing was handed in.
        report: the verdict on it, if there is one.
        tests: the lesson's.
        name: of the report in the store.
        likeness: of the file, see `likeness`.
        notes: what else the instructor should know.
        status: where there is no report, what is known all the same.
    """
    attempt = student.attempts[number - 1] if number else None
    base = Standing(
        student=student.key,
        name=student.name,
        email=student.email,
        status=status or ("pending" if number else "missing"),
        max_points=sum(test.points for test in tests),
        attempt=number,
        attempts=len(student.attempts) if number else 0,
        late=attempt is not None and attempt.late,
        file=attempt.name if attempt is not None else "",
        notes=tuple(filter(None, (*student.notes, attempt.note if attempt else "", *notes))),
        group=student.group,
        likeness=likeness,
    )
    return base if report is None else _with_report(base, report, tests, name)


def again(one: Standing, report: Report, tests: Sequence[TestCase]) -> Standing:
    """A row with another report in the place of its own."""
    name = one.report.removeprefix("reports/").removesuffix(".json")
    return _with_report(one, report, tests, name)


def _with_report(base: Standing, report: Report, tests: Sequence[TestCase], name: str) -> Standing:
    results = {result.id: result for result in report.tests}
    ordered = [results.get(test.id) for test in tests]
    graded = report.verdict != "error"
    problem = report.problem
    return dataclasses.replace(
        base,
        status="graded" if graded else "error",
        verdict=report.verdict,
        points=report.score.points if graded else None,
        graded_points=report.score.points if graded else None,
        outcomes=tuple(intern(one.outcome) if one else "not_run" for one in ordered),
        wrong_answers=tuple(
            intern(one.wrong_answer.id) if one and one.wrong_answer else "" for one in ordered
        ),
        kinds=tuple(intern(one.kind or "") if one else "" for one in ordered),
        durations_s=tuple(one.duration_s if one else 0.0 for one in ordered),
        sha256=report.submission.sha256,
        seed=report.grader.seed,
        started_at=report.started_at,
        duration_s=report.duration_s,
        problem=problem.kind if problem else "",
        message=problem.message if problem else "",
        notes=(*base.notes, *report.notes),
        report=f"reports/{name}.json",
    )


def counted(rows: Iterable[Standing], policy: str) -> Iterator[Standing]:
    """The rows that are shown, those that count marked.

    Args:
        rows: a student's tries beside each other, oldest first.
        policy: "latest", "best" (most points; of equals the latest) or "all", where every try is
            shown and the latest counts.
    """
    tries: dict[str, list[Standing]] = {}
    for one in rows:
        tries.setdefault(one.student, []).append(one)
    for ones in tries.values():
        best = ones[-1]
        if policy == "best":
            best = max(
                ones, key=lambda one: (-1 if one.points is None else one.points, one.attempt)
            )
        if policy != "all":
            yield best
        else:
            yield from (dataclasses.replace(one, counts=one is best) for one in ones)
