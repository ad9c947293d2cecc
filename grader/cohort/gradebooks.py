"""The platforms' own gradebook files, filled in: the points of each student, and nothing else changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.cohort import csvbytes
from grader.cohort.entries import whole
from grader.cohort.naming import fold, squashed
from grader.cohort.people import called
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from grader.cohort.csvbytes import Cell
    from grader.cohort.people import Student

_CANVAS_COLUMN = re.compile(r".+ \(\d+\)", re.DOTALL)
_NUMBER = re.compile(r"\d+$")
_MOST_BYTES = 64 << 20
_CANVAS_IDS = ("id", "sis user id", "sis login id", "login id", "integration id")
_MOODLE_IDS = ("identifier", "id number", "email address", "email", "username")


@dataclass(frozen=True)
class Filled:
    """A gradebook's new bytes, how many rows got their points, and what the instructor should know."""

    data: bytes
    count: int
    notes: tuple[str, ...]


def fill(
    platform: str,
    path: Path,
    points: Mapping[str, int],
    students: Sequence[Student],
    *,
    lesson: tuple[int, str],
    max_points: int,
    column: str | None = None,
) -> Filled:
    """Fill in a gradebook. Who has no verdict keeps whatever stands there.

    Args:
        platform: "canvas" or "moodle".
        path: the platform's export.
        points: by student's key.
        students: who they are.
        lesson: number and title, by which Canvas's column is found.
        max_points: that the lesson gives.
        column: Canvas's column, where it isn't found by itself: its heading, or its number in brackets.

    Raises:
        UsageError: there is no such platform, or the file isn't that platform's.
    """
    if platform not in ("canvas", "moodle"):
        raise UsageError(
            f"There is no gradebook {platform!r}.", help="Say canvas=FILE.csv or moodle=FILE.csv."
        )
    data = whole(path, _MOST_BYTES)
    rows = [row for row in csvbytes.rows(data, str(path)) if row]
    if not rows:
        raise UsageError(f"{path} is empty.")
    heads = [fold(cell.text) for cell in rows[0]]
    if platform == "canvas":
        at = _canvas_column(rows[0], heads, path, lesson, column)
        ids, name, worth = _CANVAS_IDS, "student", _canvas_worth(rows, at)
    else:
        at = _moodle_column(heads, path)
        ids, name, worth = _MOODLE_IDS, "full name", _moodle_worth(rows, heads)
    find = _Finder(students, platform, [heads.index(h) for h in ids if h in heads], heads, name)
    changes: dict[Cell, str] = {}
    found: set[str] = set()
    for row in rows[1:]:
        student = find(row) if len(row) > at else None
        if student is not None:
            found.add(student.key)
            if student.key in points:
                changes[row[at]] = str(points[student.key])
    notes = _notes(path, worth, max_points, [s.key for s in students if s.key not in found])
    return Filled(csvbytes.filled(data, changes), len(changes), tuple(notes))


class _Finder:
    """Finds the student whom a row means."""

    def __init__(
        self,
        students: Sequence[Student],
        platform: str,
        columns: Sequence[int],
        heads: Sequence[str],
        name: str,
    ) -> None:
        self._platform, self._columns = platform, columns
        self._name = heads.index(name) if name in heads else None
        self._by_id: dict[str, list[Student]] = {}
        self._by_name: dict[str, list[Student]] = {}
        for student in students:
            for one in called(student.ids, platform):
                self._by_id.setdefault(one, []).append(student)
            for one in squashed(student.name or student.key):
                self._by_name.setdefault(one, []).append(student)

    def __call__(self, row: Sequence[Cell]) -> Student | None:
        """By an identifier that only one student has; by name where only one has it."""
        for column in self._columns:
            if column < len(row):
                for text in self._spellings(row[column].text):
                    if len(self._by_id.get(text, ())) == 1:
                        return self._by_id[text][0]
        if self._name is None or self._name >= len(row):
            return None
        found: list[Student] = []
        for text in squashed(row[self._name].text):
            found += [one for one in self._by_name.get(text, ()) if one not in found]
        return found[0] if len(found) == 1 else None

    def _spellings(self, text: str) -> Iterable[str]:
        """Moodle's "Participant 42" is the participant 42, whatever the language."""
        yield fold(text)
        number = _NUMBER.search(text)
        if self._platform == "moodle" and number:
            yield number[0]


def _canvas_column(
    head: Sequence[Cell],
    heads: Sequence[str],
    path: Path,
    lesson: tuple[int, str],
    column: str | None,
) -> int:
    if "student" not in heads or "id" not in heads:
        raise UsageError(f"{path} is no gradebook export of Canvas: no columns Student and ID.")
    choices = [i for i, cell in enumerate(head) if _CANVAS_COLUMN.fullmatch(cell.text)]
    fitting = choices
    if column is not None:
        wanted = fold(column)
        fitting = [
            i
            for i in choices
            if heads[i] == wanted
            or heads[i].endswith(f"({wanted})")
            or heads[i].rpartition(" (")[0] == wanted
        ]
    elif len(choices) > 1:
        number, title = lesson
        word = re.compile(rf"(?<!\d){number}(?!\d)")
        fitting = [
            i
            for i in choices
            if fold(title) in heads[i] or word.search(heads[i].rpartition(" (")[0])
        ]
    if len(fitting) != 1:
        names = "; ".join(head[i].text for i in choices) or "none"
        raise UsageError(
            f"{path}: which column is the lab's? There is no telling from the headings.",
            help=f"Name one of them: {names}.",
        )
    return fitting[0]


def _moodle_column(heads: Sequence[str], path: Path) -> int:
    if "grade" not in heads or not set(_MOODLE_IDS).intersection(heads):
        raise UsageError(
            f"{path} is no grading worksheet of Moodle: no columns Identifier and Grade.",
            help="Turn on the offline grading worksheet in the assignment, and download it.",
        )
    return list(heads).index("grade")


def _canvas_worth(rows: Sequence[Sequence[Cell]], at: int) -> str:
    for row in rows[1:4]:
        if row[0].text.strip().casefold() == "points possible" and len(row) > at:
            return row[at].text.strip()
    return ""


def _moodle_worth(rows: Sequence[Sequence[Cell]], heads: Sequence[str]) -> str:
    at = list(heads).index("maximum grade") if "maximum grade" in heads else -1
    return rows[1][at].text.strip() if at >= 0 and len(rows) > 1 and len(rows[1]) > at else ""


def _notes(path: Path, worth: str, max_points: int, missing: list[str]) -> Iterable[str]:
    try:
        differs = bool(worth) and float(worth.replace(",", ".")) != max_points
    except ValueError:
        differs = False
    if differs:
        yield (
            f"{path.name}: the column is worth {worth} points and the lesson gives {max_points};"
            " points were filled in as they are."
        )
    if missing:
        names = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        yield f"{path.name}: no row for {len(missing)} student{'s' if len(missing) > 1 else ''}: {names}."
