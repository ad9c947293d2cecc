"""The vocabulary of a cohort: who handed in what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.cohort.naming import fold

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.cohort.entries import Entry


@dataclass(frozen=True)
class Person:
    """Somebody as a source names them: `key` tells them from everybody else in it.

    `ids` are what else they may be known by (an email address, a number); `name` is their full name as
    the source has it, empty where it has none.
    """

    key: str
    name: str = ""
    ids: tuple[str, ...] = ()
    email: str = ""


@dataclass(frozen=True)
class HandIn:
    """What one person, or one group, handed in at one time.

    `files` are the names that the files had on the student's side, and the entries; `when` is in seconds
    since 1970, where the source knows it.
    """

    people: tuple[Person, ...]
    files: tuple[tuple[tuple[str, ...], Entry], ...]
    when: float | None = None
    late: bool = False


@dataclass(frozen=True)
class Attempt:
    """One try: a file that can be read, or the reason why there is none."""

    name: str
    path: Path | None
    problem: str = ""
    help: str = ""
    note: str = ""
    late: bool = False


@dataclass(frozen=True)
class Student:
    """One student of the cohort. No attempts: nothing was handed in.

    `key` is the roster's id where there is a roster, else what the source has; `ids` are all the ways
    by which a gradebook may call them, as `identifier` writes them.
    """

    key: str
    name: str = ""
    email: str = ""
    ids: frozenset[str] = frozenset()
    attempts: tuple[Attempt, ...] = ()
    group: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cohort:
    """Everybody, ordered by key; how the sources were read; what was left out.

    `strangers` are those who handed in and are on no row of the roster, where there is one.
    """

    students: tuple[Student, ...]
    layouts: tuple[str, ...]
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    strangers: tuple[str, ...] = ()


def identifier(value: str, platform: str = "") -> str:
    """How an identifier is compared. A platform's own number says whose: Canvas's 12 isn't Moodle's."""
    return f"{platform}:{fold(value)}" if platform else fold(value)


def called(ids: Iterable[str], platform: str) -> frozenset[str]:
    """By which of `ids` one platform may call somebody, without the platform's mark.

    Where the platform's own number is known, other plain numbers are not used: they are somebody
    else's numbers.
    """
    ids = list(ids)
    marked = {name.partition(":")[2] for name in ids if name.startswith(f"{platform}:")}
    plain = {name for name in ids if not name.startswith(PLATFORM_MARKS)}
    return frozenset(marked | {name for name in plain if not (marked and name.isdecimal())})


PLATFORM_MARKS = ("canvas:", "moodle:")
