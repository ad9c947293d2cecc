"""A lesson's hints: for each gap of its starter a few, from a nudge to an outline."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.errors import LessonError, UsageError

if TYPE_CHECKING:
    from grader.lessons import Lesson


@dataclass(frozen=True)
class Gap:
    """One gap of a starter: a name for it, where it is, and what helps with it."""

    id: str
    where: str
    hints: tuple[str, ...]


def load(lesson: Lesson) -> tuple[Gap, ...]:
    """The gaps of a lesson, in the order of its starter.

    Raises:
        UsageError: the lesson has no hints.
        LessonError: its hints.toml can't be read.
    """
    path = lesson.folder / "hints.toml"
    if not path.is_file():
        raise UsageError(f"Lesson {lesson.number} has no hints.")
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["gap"]
        gaps = tuple(Gap(e["id"], e["where"], tuple(map(str.strip, e["hints"]))) for e in entries)
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise LessonError(
            f"{path}: {type(exc).__name__}: {exc}",
            help="It is a list of [[gap]] with id, where, and hints, a list of texts.",
        ) from exc
    if not gaps or not all(gap.hints for gap in gaps):
        raise LessonError(f"{path}: a gap has no hints.", help="Give each gap at least one.")
    return gaps


def find(gaps: tuple[Gap, ...], name: str, lesson: Lesson) -> Gap:
    """The gap that `name` means: its id, or its number in the file.

    Raises:
        UsageError: there is none.
    """
    for number, gap in enumerate(gaps, start=1):
        if name in (gap.id, str(number)):
            return gap
    raise UsageError(
        f"Lesson {lesson.number} has no gap {name!r}.",
        help=f"Its gaps: {', '.join(gap.id for gap in gaps)}.",
    )
