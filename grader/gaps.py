"""What a submission made of the starter: gaps that nobody has touched, and changes outside of them.

Told as notes: neither is a failure, but what was changed outside may well be the cause of one. A submission
that was not made from this starter, or that has other marks by now, can't be compared, and nothing is said
about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from grader.lessons import Lesson

_OPENS = re.compile(r"\s*# --- your code ---\s*")
_CLOSES = re.compile(r"\s*# --- end ---\s*")
_BEGINS = re.compile(r"(?:async +)?(?:def|class) +(\w+)")
_HINT = "Stuck? `lab_check hint --lesson {}` gives hints for a gap, one by one."
_WIDTH = 100  # characters of a line that is quoted
_ENOUGH = 0.8  # of the starter's lines: with fewer, the file was made from another one


@dataclass(frozen=True)
class Parts:
    """A file taken apart. `outside` are lines with their numbers; `gaps` begin on the lines `starts`."""

    outside: tuple[tuple[int, str], ...]
    gaps: tuple[tuple[str, ...], ...]
    starts: tuple[int, ...]


def notes(lesson: Lesson, text: str, *, failed: bool = False) -> tuple[str, ...]:
    """What there is to say about a submission, in sentences.

    Args:
        lesson: whose starter it is compared with.
        text: the submission's source.
        failed: whether it did not pass, so that a hint may be welcome.
    """
    starter = lesson.starter
    if starter is None:
        return ()
    mine, given = take_apart(text), _read(starter)
    if len(mine.gaps) != len(given.gaps) or not _made_from(given, mine):
        return ()
    if any(_same_outside(mine, other) for other in _later(starter)):
        return ()  # finished for a later lesson, and graded for this one as well
    moved = _moved(text, mine, starter.read_text(encoding="utf-8", errors="replace"), given)
    left = _untouched(mine, given)
    hint = _HINT.format(lesson.number)
    offered = (hint,) if left and failed and (lesson.folder / "hints.toml").is_file() else ()
    return (*_changed(mine, given), *moved, *left, *offered)


def take_apart(text: str) -> Parts:
    """A file's lines, those between the marks apart. Blank lines and blanks at a line's end don't count.

    Nor do comments outside of the gaps: a name at the top of a file is no change.
    """
    outside: list[tuple[int, str]] = []
    gaps: list[list[str]] = []
    starts: list[int] = []
    inside = False
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip()
        if not inside and _OPENS.fullmatch(line):
            inside = True
            gaps.append([])
            starts.append(number)
        elif inside and _CLOSES.fullmatch(line):
            inside = False
        elif inside:
            gaps[-1].append(line)
        elif line and not line.lstrip().startswith("#"):
            outside.append((number, line))
    filled = (tuple(line for line in gap if line) for gap in gaps)
    return Parts(tuple(outside), tuple(filled), tuple(starts))


def _made_from(given: Parts, mine: Parts) -> bool:
    there = {line for _, line in mine.outside}
    asked = [line for _, line in given.outside]
    return sum(line in there for line in asked) >= _ENOUGH * len(asked)


def _same_outside(mine: Parts, other: Parts) -> bool:
    return [line for _, line in mine.outside] == [line for _, line in other.outside]


def _later(starter: Path) -> list[Parts]:
    """The starters of lessons that come after this one."""
    paths = sorted(starter.parent.parent.glob("lesson_*/harness.py"))
    later = [path for path in paths if path.parent.name > starter.parent.name]
    return [_read(path) for path in later]


def _read(path: Path) -> Parts:
    return take_apart(path.read_text(encoding="utf-8", errors="replace"))


def _untouched(mine: Parts, given: Parts) -> tuple[str, ...]:
    pairs = zip(mine.gaps, given.gaps, strict=True)
    same = [at for at, (gap, was) in enumerate(pairs) if gap == was]
    count = len(mine.gaps)
    if not same:
        return ()
    if len(same) == count:
        return ("Every gap is still as the starter has it.",)
    told = ", ".join(f"{at + 1} (line {mine.starts[at]})" for at in same)
    gaps, are, have = ("Gap", "is", "it") if len(same) == 1 else ("Gaps", "are", "them")
    return (f"{gaps} {told} of {count} {are} still as the starter has {have}.",)


def _changed(mine: Parts, given: Parts) -> tuple[str, ...]:
    """Where the two first part. The first place only: what a submission says has no bounds."""
    if _same_outside(mine, given):
        return ()
    shared = zip(mine.outside, given.outside, strict=False)
    at = next((at for at, ((_, one), (_, two)) in enumerate(shared) if one != two), None)
    at = min(len(mine.outside), len(given.outside)) if at is None else at
    where = mine.outside[at][0] if at < len(mine.outside) else mine.outside[-1][0]
    lines = [_quoted(parts.outside, at) for parts in (given, mine)]
    told = "Lines outside of the gaps were changed. That is allowed, but what fails may come from there."
    return (f"{told} The first is line {where}. The starter has {lines[0]}; yours has {lines[1]}.",)


def _quoted(lines: tuple[tuple[int, str], ...], at: int) -> str:
    if at >= len(lines):
        return "its end there"
    text = lines[at][1].strip().replace("`", "'")
    return f"`{text if len(text) <= _WIDTH else text[: _WIDTH - 1] + '…'}`"


def _moved(text: str, mine: Parts, starter: str, given: Parts) -> tuple[str, ...]:
    """Functions and classes that have a gap in the starter, and are by now somewhere else in the file."""
    told = {}
    there, here = _begins(starter), _begins(text)
    for was, now in zip(given.starts, mine.starts, strict=True):
        name = next((name for line, name in reversed(there) if line < was), "")
        if not starter.split("\n")[was - 1].startswith((" ", "\t")):
            continue  # a gap between functions
        line = next((line for line, other in reversed(here) if other == name), None)
        around = next((line for line, _ in reversed(here) if line < now), None)
        if line is not None and line != around:
            told[name] = (
                f"`{name}` begins at line {line}, outside of its gap, which is at line {now}: what is"
                f" tested is what stands at line {line}."
            )
    return tuple(told.values())


def _begins(text: str) -> list[tuple[int, str]]:
    """Where functions and classes begin at the top level. Looked for line by line: the text is anybody's."""
    lines = enumerate(text.split("\n"), start=1)
    return [(number, found[1]) for number, line in lines if (found := _BEGINS.match(line))]
