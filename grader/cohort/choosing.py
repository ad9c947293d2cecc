"""Which of the files that a student handed in is the harness. Says why, where none of them is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.cohort.entries import archive_stem
from grader.cohort.people import Attempt

if TYPE_CHECKING:
    from grader.cohort.entries import Entry
    from grader.cohort.people import HandIn

# `harness.py`, and what becomes of it: `harness-1.py` (Canvas, a second try), `harness (1).py` (browsers).
_HARNESS = re.compile(r"harness(?:-(\d{1,6})| ?\((\d{1,6})\))?\.py", re.IGNORECASE)
_KIT = {"damaged.py", "tests.py", "lab_check.py", "__init__.py"}
_HELP = "The lab asks for one file, harness.py: the source itself, as plain text."
_INSTEAD = {
    ".ipynb": "a notebook",
    ".txt": "a text file",
    **dict.fromkeys((".zip", ".tar", ".gz", ".tgz", ".xz", ".bz2", ".7z", ".rar"), "an archive"),
    ".pyc": "compiled code",
    ".html": "text typed into a box, or a web page,",
    ".pdf": "a PDF",
    ".docx": "a Word file",
}

File = tuple[tuple[str, ...], "Entry"]


def attempts(handin: HandIn) -> tuple[Attempt, ...]:
    """The tries in one hand-in, oldest first; at least one, if only to say that nothing is usable."""
    named = [(_number(parts[-1]), (parts, entry)) for parts, entry in handin.files]
    tries = sorted(
        ((number, file) for number, file in named if number is not None),
        key=lambda item: (item[0], len(item[1][0]), item[1][0]),
    )
    if tries:
        return tuple(_one(group, handin) for group in _by_number(tries))
    return (_without_name(handin),)


def is_named(handin: HandIn) -> bool:
    """Whether a file in a hand-in has the name that the lab asks for, or what becomes of it."""
    return any(_number(parts[-1]) is not None for parts, _ in handin.files)


def _number(name: str) -> int | None:
    """Which try a file name tells of; None where the name is another."""
    found = _HARNESS.fullmatch(name)
    return None if found is None else int(found[1] or found[2] or 0)


def _by_number(tries: list[tuple[int, File]]) -> list[list[File]]:
    """The files of each try; of one that is there at several depths, only the shallowest."""
    groups: dict[int, list[File]] = {}
    for number, file in tries:
        group = groups.setdefault(number, [])
        if not group or len(file[0]) == len(group[0][0]):
            group.append(file)
    return list(groups.values())


def _one(group: list[File], handin: HandIn) -> Attempt:
    if len(group) > 1:
        return _none(f"Several files could be the harness: {_listed(group)}.", handin)
    return _attempt(group[0], handin)


def _without_name(handin: HandIn) -> Attempt:
    """No file is called harness.py. A single Python file will do; anything else is told."""
    files = list(handin.files)
    if not files:
        return _none("There is no file in what was handed in.", handin)
    sources = [
        file for file in files if file[0][-1].lower().endswith(".py") and not _of_the_kit(file[0])
    ]
    if len(sources) == 1:
        return _attempt(sources[0], handin, f"{'/'.join(sources[0][0])} was taken as harness.py")
    if sources:
        told = f"No file is called harness.py, and several could be it: {_listed(sources)}."
        return _none(told, handin)
    shut = [file for file in files if archive_stem(file[0][-1]) and file[1].refused]
    if shut:
        parts, entry = shut[0]
        told = (
            f"There is no harness.py, and {'/'.join(parts)} could not be opened: {entry.refused}."
        )
        return _none(told, handin)
    suffix = next((s for s in _INSTEAD if any(f[0][-1].lower().endswith(s) for f in files)), "")
    what = f", {_INSTEAD[suffix]} where harness.py should be" if suffix else ""
    return _none(f"There is no harness.py: handed in was {_listed(files)}{what}.", handin)


def _attempt(file: File, handin: HandIn, note: str = "") -> Attempt:
    parts, entry = file
    if entry.path is None:
        return _none(f"{'/'.join(parts)} could not be taken: {entry.refused}.", handin)
    return Attempt(parts[-1], entry.path, note=note, late=handin.late)


def _none(problem: str, handin: HandIn) -> Attempt:
    return Attempt("harness.py", None, problem=problem, help=_HELP, late=handin.late)


def _of_the_kit(parts: tuple[str, ...]) -> bool:
    return parts[-1] in _KIT or "lab" in parts[:-1]


def _listed(files: list[File]) -> str:
    names = ["/".join(parts) for parts, _ in files]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
