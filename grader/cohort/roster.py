"""The roster: a CSV that says who is in the course, and by which names the platforms know them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.cohort.entries import whole
from grader.cohort.naming import fold, squashed, tidy
from grader.cohort.people import PLATFORM_MARKS, identifier
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grader.cohort.people import Student

_KEYS = ("student", "id", "student id", "username", "sis user id", "login", "email")
_NAMES = {"name", "full name", "student name"}
_FIRST, _LAST = {"first name", "given name", "first"}, {"last name", "surname", "last"}
_EMAILS = {"email", "email address", "e-mail"}
_LAST_NUMBER = re.compile(r"\d+$")
_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class Enrolled:
    """One row: the key that is used from now on, the name, and every `identifier` in the row."""

    key: str
    name: str
    email: str
    ids: frozenset[str]


class Roster:
    """Who is in the course.

    Args:
        people: the rows, in their order.

    Raises:
        UsageError: two rows have one key.
    """

    def __init__(self, people: Iterable[Enrolled]) -> None:
        self.people = tuple(people)
        self._by_id: dict[str, list[Enrolled]] = {}
        self._by_name: dict[str, list[Enrolled]] = {}
        marks = {name.partition(":")[0] for person in self.people for name in person.ids}
        self._platforms = marks & {mark.rstrip(":") for mark in PLATFORM_MARKS}
        keys: set[str] = set()
        for person in self.people:
            if fold(person.key) in keys:
                raise UsageError(f"The roster has two rows for {person.key!r}.")
            keys.add(fold(person.key))
            for name in person.ids:
                self._by_id.setdefault(name, []).append(person)
            for name in squashed(person.name):
                self._by_name.setdefault(name, []).append(person)

    def find(self, student: Student) -> Enrolled | None:
        """The row that means this student: by an identifier, or by a name that only one row has."""
        for name in sorted(student.ids):
            rows = self._by_id.get(name, [])
            if not rows and name.startswith(PLATFORM_MARKS):
                platform, _, number = name.partition(":")
                # A column of that platform's numbers says all there is; without one, any id will do.
                rows = [] if platform in self._platforms else self._by_id.get(number, [])
            if len(rows) == 1:
                return rows[0]
        rows = []
        for name in squashed(student.name or student.key):
            rows += [row for row in self._by_name.get(name, []) if row not in rows]
        return rows[0] if len(rows) == 1 else None


def read(path: Path) -> Roster:
    """Read a roster: any delimiter, headings in any order.

    Raises:
        UsageError: it can't be read, or has no column that could be a key.
    """
    text = _text(path)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        headings = {tidy(name).casefold(): name for name in rows.fieldnames or () if name}
        key = next((headings[name] for name in _KEYS if name in headings), None)
        if key is None:
            raise UsageError(
                f"{path} has no column that names a student.",
                help=f"Give it one of the headings {', '.join(_KEYS)}.",
            )
        return Roster([_enrolled(row, key) for row in rows if (row.get(key) or "").strip()])
    except csv.Error as exc:
        raise UsageError(f"{path} is no CSV: {exc}.") from exc


def _enrolled(row: Mapping[str | None, object], key: str) -> Enrolled:
    cells = {tidy(k).casefold(): tidy(v) for k, v in row.items() if k and isinstance(v, str)}
    names = [cells[name] for name in cells if name in _NAMES]
    first = [cells[name] for name in cells if name in _FIRST]
    last = [cells[name] for name in cells if name in _LAST]
    name = names[0] if names else " ".join(first + last)
    email = next((cells[name] for name in cells if name in _EMAILS), "")
    other = _NAMES | _FIRST | _LAST
    ids = {
        _id(heading, value) for heading, value in cells.items() if value and heading not in other
    }
    return Enrolled(tidy(str(row[key])), name, email, frozenset(ids))


def _id(heading: str, value: str) -> str:
    if "canvas" in heading:
        return identifier(value, "canvas")
    if "moodle" in heading or "participant" in heading:
        digits = _LAST_NUMBER.search(value)
        return identifier(digits[0] if digits else value, "moodle")
    return identifier(value)


def _text(path: Path) -> str:
    data = whole(path, _MOST_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise UsageError(f"{path} is not UTF-8.", help="Save it as CSV UTF-8.") from exc
