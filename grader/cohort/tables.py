"""What a batch writes for people and programs: grades.csv and cohort.json."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.records import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.cohort.people import Cohort
    from grader.cohort.standing import Standing
    from grader.cohort.statistics import Figures
    from grader.records import TestCase

COHORT_VERSION = 1
_COLUMNS = ("student", "name", "email", "status", "verdict", "points", "max_points")
_MORE = ("graded_points", "override", "attempt", "sha256", "note")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def grades_csv(rows: Sequence[Standing], tests: Sequence[TestCase]) -> Iterator[str]:
    """The grades, a row a student, UTF-8 without a mark, lines that end in a newline and no line breaks else.

    A cell that a spreadsheet would take for a formula gets an apostrophe in front: the names in it were
    chosen by strangers.
    """
    yield _line([*_COLUMNS, *_MORE, *(test.id for test in tests)])
    for row in rows:
        told = "; ".join(f"{one.reason} ({one.who}, {one.when})" for one in row.overrides)
        notes = map(_on_one_line, (row.message, _stopped(row), *row.notes))
        note = "; ".join(filter(None, notes))
        cells: list[Any] = [row.student, row.name, row.email, row.status, row.verdict]
        cells += [row.points, row.max_points, row.graded_points, told, row.attempt or None]
        cells += [row.sha256, note, *(row.outcomes or [None] * len(tests))]
        yield _line(cells)


def cohort_json(
    rows: Sequence[Standing],
    figures: Figures,
    *,
    cohort: Cohort,
    lesson: tuple[int, str],
    grader: dict[str, Any],
    made_at: str,
) -> dict[str, Any]:
    """Everything that is known of a cohort but for the reports themselves, as plain JSON.

    Args:
        rows: of `standing`.
        figures: of `statistics`.
        cohort: what the sources held.
        lesson: number and title.
        grader: with what it was graded.
        made_at: when this was put together, ISO 8601.
    """
    return {
        "schema_version": COHORT_VERSION,
        "made_at": made_at,
        "lesson": {"number": lesson[0], "title": lesson[1]},
        "grader": grader,
        "layouts": list(cohort.layouts),
        "refused": list(cohort.refused),
        "notes": list(cohort.notes),
        "figures": to_json(figures),
        "students": Rows(rows),
    }


class Rows(Sequence[dict[str, Any]]):
    """Rows as plain JSON, each made when it is asked for.

    Args:
        rows: of `standing`.
    """

    def __init__(self, rows: Sequence[Standing]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Rows(self._rows[place])
        return to_json(self._rows[place])


def json_text(data: Mapping[str, Any]) -> Iterator[str]:
    """What `cohort_json` gave, as text, in pieces: a student at a time."""
    students = data["students"]
    yield json.dumps({**data, "students": []}, indent=1).removesuffix("[]\n}") + "["
    for number, student in enumerate(students):
        yield f"{',' if number else ''}\n  {json.dumps(student)}"
    yield "\n ]\n}\n"


def _line(cells: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([_cell(cell) for cell in cells])
    return text.getvalue()


def _stopped(row: Standing) -> str:
    """What ended tests before they came to their rule: "timeout in 2 tests, exception in 1 test"."""
    kinds = Counter(
        kind
        for kind, outcome in zip(row.kinds, row.outcomes, strict=False)
        if outcome == "fail" and kind not in ("", "rule")
    )
    return ", ".join(
        f"{kind.replace('_', ' ')} in {count} test{'s' if count > 1 else ''}"
        for kind, count in kinds.most_common()
    )


def _on_one_line(text: str) -> str:
    return " ".join(filter(None, map(str.strip, text.splitlines())))


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return "" if value is None else value
    line = _on_one_line(value)
    return f"'{line}" if line.startswith(_FORMULA) else line
