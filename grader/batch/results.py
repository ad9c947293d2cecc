"""What a batch leaves behind beside its reports: grades.csv, cohort.json, index.html, gradebooks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from grader import __version__
from grader.batch import deciding, work
from grader.batch.deciding import Decided
from grader.cohort import gradebooks, likeness, overrides, standing, statistics, tables
from grader.errors import SubmissionError
from grader.records import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.batch.work import Job, Options, Slot
    from grader.cohort.gradebooks import Filled
    from grader.cohort.overrides import Override
    from grader.cohort.people import Attempt, Cohort
    from grader.cohort.standing import Standing
    from grader.cohort.store import Store
    from grader.lessons import Lesson

    Page = Callable[
        [Mapping[str, Any], Iterable[tuple[int, Any]], Iterable[tuple[str, str]]], Iterator[str]
    ]

_SIDE_BY_SIDE = 6  # of a group of like files, how many are shown
_SHOWN = 64 << 10  # characters of each


class Results:
    """The results of a batch.

    Args:
        store: where to, locked.
        lesson: what is graded.
        options: how.
        cohort: everybody.
        column: of Canvas's gradebook, where it isn't found by itself.
    """

    def __init__(
        self, store: Store, lesson: Lesson, options: Options, cohort: Cohort, column: str | None
    ) -> None:
        self._store, self._lesson, self._options, self._cohort = store, lesson, options, cohort
        self._column = column
        self._attempts: dict[str, Attempt] = {}
        self._figures = statistics.figures([], lesson.tests)
        self.rows: tuple[Standing, ...] = ()
        self.notes: list[str] = []
        self.decided = Decided()

    def check(self, books: Mapping[str, Path]) -> None:
        """See that the gradebooks can be filled in, before an hour is spent on grading.

        Raises:
            UsageError: one is not that platform's.
        """
        for platform, path in books.items():
            self._filled(platform, path)

    def settle(
        self, jobs: Sequence[Job], rows: Mapping[str, Standing], decided: Sequence[Override]
    ) -> None:
        """Work out where everybody stands.

        Args:
            jobs: all that was to have a report.
            rows: by name of the report.
            decided: the overrides; what is new of them goes into the audit before it counts.

        Raises:
            StoreError: the audit can't be written.
        """
        slots = [slot for job in jobs for slot in job.slots]
        self._attempts = {slot.name: slot.attempt for slot in slots}
        tests = self._lesson.tests
        ordered = _ordered(self._cohort, slots, rows, self._lesson)
        graded = list(standing.counted(ordered, self._options.attempt))
        self.decided = deciding.record(self._store, graded, decided, tests)
        self.rows = tuple(overrides.apply(row, decided, tests) for row in graded)
        self._figures = statistics.figures(
            graded, tests, final=self.rows, starter=_starter(self._lesson)
        )

    def write(self, rooms: Any, page: Page | None, books: Mapping[str, Path]) -> list[Path]:
        """Write all files; give their paths. A platform's own gradebook stays as it is.

        Args:
            rooms: where it was graded, for their name and image.
            page: makes index.html.
            books: platform -> its gradebook.

        Raises:
            StoreError: one can't be written.
        """
        store = self._store
        store.write_text("grades.csv", tables.grades_csv(self.rows, self._lesson.tests))
        names = ["grades.csv"]
        for platform, path in books.items():
            filled = self._filled(platform, path)
            names.append(f"gradebook-{platform}.csv")
            store.write_bytes(names[-1], [filled.data])
            grades = "grade" if filled.count == 1 else "grades"
            self.notes += [f"{names[-1]}: {filled.count} {grades} filled in.", *filled.notes]
        data = self._data(getattr(rooms, "name", None), getattr(rooms, "image", None))
        store.write_text("cohort.json", tables.json_text(data))
        names.append("cohort.json")
        if page is not None:
            store.write_text("index.html", page(data, self._reports(), self._sources()))
            names.append("index.html")
        return [store.folder / name for name in names]

    def _filled(self, platform: str, path: Path) -> Filled:
        tests = self._lesson.tests
        return gradebooks.fill(
            platform,
            path,
            {row.student: row.points for row in self.rows if row.counts and row.points is not None},
            self._cohort.students,
            lesson=(self._lesson.number, self._lesson.title),
            max_points=sum(test.points for test in tests),
            column=self._column,
        )

    def _data(self, runner: str | None, image: str | None) -> dict[str, Any]:
        grader = {
            "version": __version__,
            "tests_sha256": self._lesson.sha256,
            "runner": runner,
            "image": image,
            "seed": self._options.seed,
            "limits": to_json(self._options.limits),
            "attempt": self._options.attempt,
        }
        return tables.cohort_json(
            self.rows,
            self._figures,
            cohort=self._cohort,
            lesson=(self._lesson.number, self._lesson.title),
            grader=grader,
            made_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        )

    def _reports(self) -> Iterator[tuple[int, Any]]:
        """Each row's report, read when it is asked for."""
        for number, row in enumerate(self.rows):
            if row.report:
                report = self._store.raw(row.report.removeprefix("reports/").removesuffix(".json"))
                if report is not None:
                    yield number, report

    def _sources(self) -> Iterator[tuple[str, str]]:
        """Students whose files are alike, and those files, group by group."""
        rows = {row.student: row for row in self.rows if row.counts}
        for group in self._figures.alike:
            for student in group[:_SIDE_BY_SIDE]:
                name = rows[student].report.removeprefix("reports/").removesuffix(".json")
                attempt = self._attempts.get(name)
                if attempt is None or attempt.path is None:
                    continue
                try:
                    limit = self._options.limits.submission_bytes
                    yield student, work.read(attempt.path, attempt.name, limit).text[:_SHOWN]
                except SubmissionError:
                    continue


def _ordered(
    cohort: Cohort, slots: Sequence[Slot], rows: Mapping[str, Standing], lesson: Lesson
) -> Iterator[Standing]:
    """Everybody's rows in the students' order; who handed in nothing has one, too."""
    by_student: dict[str, list[Slot]] = {}
    for slot in slots:
        by_student.setdefault(slot.student.key, []).append(slot)
    for student in cohort.students:
        mine = by_student.get(student.key, [])
        if not mine:
            yield standing.row(student, 0, None, lesson.tests)
        for slot in mine:
            known = rows.get(slot.name)
            yield known or standing.row(student, slot.number, None, lesson.tests)


def _starter(lesson: Lesson) -> str:
    if lesson.starter is None:
        return ""
    return likeness.of(lesson.starter.read_text(encoding="utf-8"))
