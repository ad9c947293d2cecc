"""From sources to a cohort: every student once, every try in order, whoever is missing named."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cohort import archives, choosing, layouts, nested
from grader.cohort import entries as sources
from grader.cohort.naming import tidy
from grader.cohort.people import Attempt, Cohort, Student, identifier
from grader.errors import UsageError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from grader.cohort.entries import SourceLimits, Tree
    from grader.cohort.people import HandIn, Person
    from grader.cohort.roster import Roster


_STRANGER = "not on the roster"


@dataclass
class _Known:
    """What is known of one student so far."""

    person: Person
    ids: set[str] = field(default_factory=set)
    attempts: list[Attempt] = field(default_factory=list)
    group: set[str] = field(default_factory=set)


def collect(
    given: Sequence[str | os.PathLike[str]],
    spool: Path,
    *,
    layout: str | None = None,
    roster: Roster | None = None,
    limits: SourceLimits | None = None,
    skip: Path | None = None,
) -> Cohort:
    """Read all sources.

    Args:
        given: folders, archives and single files.
        spool: an existing empty folder, for what is unpacked; has to stay while the cohort is graded.
        layout: one of `layouts.LAYOUTS`; None to recognise each source's own.
        roster: joins names, and tells who is missing.
        limits: what an archive may hold.
        skip: a folder inside a source that is no part of it: the one for the results.

    Raises:
        UsageError: a source is missing, damaged, a bomb, or holds nothing that anybody handed in.
    """
    limits = limits or sources.SourceLimits()
    known: dict[str, _Known] = {}
    names: list[str] = []
    refused: list[str] = []
    opener = nested.Opener(spool, limits)
    for tree in _trees(given, spool, limits, skip):
        name, handins = layouts.read(tree, layout)
        names.append(name)
        refused += tree.refused
        refused += [
            f"{'/'.join(entry.parts)}: {entry.refused}"
            for entry in tree.entries
            if entry.refused and entry.name != sources.NOTHING
        ]
        for handin in handins:
            _note(known, opener.opened(handin), name)
    refused += opener.refused
    if not known:
        raise UsageError(
            "Nobody handed in anything in what was named"
            + (f" (refused: {'; '.join(refused[:3])})." if refused else "."),
            help="Name a platform's download, or a folder with <student>/harness.py;"
            " --layout says which, where it isn't recognised.",
        )
    students = [_student(one) for one in known.values()]
    if roster is not None:
        students = _joined(students, roster)
    students.sort(key=lambda student: (student.key.casefold(), student.key))
    strangers = tuple(student.key for student in students if _STRANGER in student.notes)
    return Cohort(tuple(students), tuple(dict.fromkeys(names)), tuple(refused), strangers=strangers)


def _trees(
    given: Sequence[str | os.PathLike[str]],
    spool: Path,
    limits: SourceLimits,
    skip: Path | None,
) -> Iterable[Tree]:
    """The sources in their order; files that are no archives are one source together, the last."""
    files: list[Path] = []
    for number, path in enumerate(map(Path, given)):
        if path.is_dir():
            yield sources.from_folder(path, limits, skip)
            continue
        if not path.is_file():
            raise UsageError(f"There is no file or folder {path}.", help="Check the name.")
        folder = spool / f"{number:03}"
        tree = None if path.suffix.lower() == ".py" else archives.from_archive(path, folder, limits)
        if tree is not None:
            yield tree
        elif path.suffix.lower() in (".py", ".ipynb", ".txt"):
            files.append(path)
        else:
            raise UsageError(
                f"{path} is neither a folder, a zip, a tar nor a Python file.",
                help="Unpack it, and name the folder.",
            )
    if files:
        yield sources.from_files(files)


def _note(known: dict[str, _Known], handin: HandIn, layout: str) -> None:
    platform = layout if layout in ("canvas", "moodle") else ""
    keys = [tidy(person.key) for person in handin.people]
    for key, person in zip(keys, handin.people, strict=True):
        one = known.setdefault(key, _Known(person))
        one.ids |= {identifier(key, platform if key.isdecimal() else "")}
        one.ids |= {identifier(name) for name in person.ids if name}
        one.attempts += choosing.attempts(handin)
        one.group |= set(keys) - {key}


def _student(one: _Known) -> Student:
    usable = [attempt for attempt in one.attempts if attempt.path is not None]
    unusable = [attempt for attempt in one.attempts if attempt.path is None]
    notes = [attempt.problem for attempt in unusable] if usable else []
    return Student(
        key=tidy(one.person.key),
        name=tidy(one.person.name),
        email=tidy(one.person.email),
        ids=frozenset(one.ids),
        attempts=tuple(usable or unusable[-1:]),
        group=tuple(sorted(one.group)),
        notes=tuple(notes),
    )


def _joined(students: list[Student], roster: Roster) -> list[Student]:
    """The students under their roster's keys and names, and those of the roster who are missing."""
    rows = {student.key: roster.find(student) for student in students}
    keys = {key: row.key for key, row in rows.items() if row is not None}
    joined: dict[str, Student] = {}
    for student in students:
        row = rows[student.key]
        group = tuple(sorted(keys.get(key, key) for key in student.group))
        if row is None:
            changed = dataclasses.replace(student, group=group, notes=(*student.notes, _STRANGER))
        else:
            changed = dataclasses.replace(
                student,
                key=row.key,
                name=row.name or student.name,
                email=row.email or student.email,
                ids=student.ids | row.ids,
                group=group,
            )
        earlier = joined.get(changed.key)
        joined[changed.key] = changed if earlier is None else _merged(earlier, changed)
    for row in roster.people:
        if row.key not in joined:
            joined[row.key] = Student(row.key, row.name, row.email, row.ids)
    return list(joined.values())


def _merged(first: Student, second: Student) -> Student:
    """One student whom two sources call differently: the later source's tries come later."""
    attempts = [a for a in (*first.attempts, *second.attempts) if a.path is not None]
    return dataclasses.replace(
        second,
        ids=first.ids | second.ids,
        attempts=tuple(attempts) or second.attempts[-1:],
        group=tuple(sorted({*first.group, *second.group})),
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )
