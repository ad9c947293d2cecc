"""The shapes that platforms give a download: told by the names in it, or named by the instructor.

Each layout is a function from a tree to hand-ins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.cohort import gradescope
from grader.cohort.entries import archive_stem, is_harness
from grader.cohort.people import HandIn, Person
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.cohort.entries import Entry, Tree

_CANVAS_ANONYMOUS = re.compile(
    r"anon(?P<l1>_LATE)?_(?P<user>[^_]+)(?P<l2>_LATE)?_(?P<file>\d+_.+|text\.html)", re.DOTALL
)
_CANVAS = re.compile(
    r"(?P<name>.+?)(?P<l1>_LATE)?_(?P<user>\d+)(?P<l2>)_(?P<file>\d+_.+|text\.html)", re.DOTALL
)
_MOODLE = re.compile(
    r"(?:Participant[_ ](?P<blind>\d+)(?:_\d+)?|(?P<name>.+)_(?P<id>\d+))"
    r"_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?",
    re.DOTALL | re.IGNORECASE,
)
_TELLING = (
    0.6  # the share of files that have to look like a platform's for it to be that platform's
)

Files = list[tuple[tuple[str, ...], "Entry"]]


def recognise(tree: Tree) -> str:
    """Which layout a tree has; "plain" where it is none of a platform's."""
    entries = _below_wrappers(tree)[1]
    if any(parts[-1] == gradescope.METADATA for parts, _ in entries):
        return "gradescope"
    if _share(_moodle_match(parts) is not None for parts, _ in entries) >= _TELLING:
        return "moodle"
    if _share(_canvas_match(parts) is not None for parts, _ in entries) >= _TELLING:
        return "canvas"
    return "classroom" if _classroom_prefix(tree, certain=True) else "plain"


def read(tree: Tree, layout: str | None) -> tuple[str, list[HandIn]]:
    """A tree's hand-ins.

    Args:
        tree: what is in a source.
        layout: one of `LAYOUTS`; None to recognise it.

    Raises:
        UsageError: there is no such layout, or its metadata can't be read.
    """
    layout = layout or recognise(tree)
    if layout not in LAYOUTS:
        raise UsageError(
            f"There is no layout {layout!r}.", help=f"The layouts there are: {', '.join(LAYOUTS)}."
        )
    return layout, LAYOUTS[layout](tree)


def _canvas(tree: Tree) -> list[HandIn]:
    """One flat folder; a student is told by the user id in each file's name."""
    found: dict[str, tuple[Person, Files, list[bool]]] = {}
    for parts, entry in _below_wrappers(tree)[1]:
        match = _canvas_match(parts)
        if match is None:
            continue
        name = match.groupdict().get("name") or ""
        person = Person(match["user"], name) if name else Person(f"anon_{match['user']}")
        file = match["file"].partition("_")[2] if match["file"] != "text.html" else "text.html"
        _, files, late = found.setdefault(person.key, (person, [], []))
        files.append(((*parts[1:-1], file), entry))
        late.append(bool(match["l1"] or match["l2"]))
    return [
        HandIn((person,), tuple(files), late=any(late)) for person, files, late in found.values()
    ]


def _moodle(tree: Tree) -> list[HandIn]:
    """A folder a student, or flat; a student is told by the participant's number."""
    found: dict[str, tuple[Person, Files]] = {}
    for parts, entry in _below_wrappers(tree)[1]:
        match = _moodle_match(parts)
        if match is None:
            continue
        number, name = match["blind"] or match["id"], match["name"] or ""
        person = Person(number, name)
        below = parts[1:] or ((match["file"] or "onlinetext.html"),)
        found.setdefault(number, (person, []))[1].append((below, entry))
    return [HandIn((person,), tuple(files)) for person, files in found.values()]


def _gradescope(tree: Tree) -> list[HandIn]:
    """A folder a submission; who handed it in, and when, is in the metadata."""
    entries = _below_wrappers(tree)[1]
    metadata = next((e for parts, e in entries if parts[-1] == gradescope.METADATA), None)
    told = gradescope.read(metadata) if metadata is not None else {}
    folders: dict[str, Files] = {name: [] for name in told}
    for parts, entry in entries:
        if len(parts) > 1:
            folders.setdefault(parts[0], []).append((parts[1:], entry))
    handins = []
    for folder, files in folders.items():
        people, when = told.get(folder, ((Person(folder),), None))
        handins.append(HandIn(people or (Person(folder),), tuple(files), when))
    return sorted(handins, key=lambda handin: handin.when or 0.0)


def _classroom(tree: Tree) -> list[HandIn]:
    """A clone a student, in a folder that ends in the user name."""
    prefix = _classroom_prefix(tree, certain=False)
    handins = []
    for folder, files in _by_folder(tree).items():
        user = folder.removeprefix(prefix) or folder
        handins.append(HandIn((Person(user),), tuple(files)))
    return handins


def _plain(tree: Tree) -> list[HandIn]:
    """`<student>/harness.py`, `<student>.py`, `<student>.zip`, or one student's own folder."""
    return [HandIn((Person(name),), tuple(files)) for name, files in _by_folder(tree).items()]


LAYOUTS: dict[str, Callable[[Tree], list[HandIn]]] = {
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
    "classroom": _classroom,
    "plain": _plain,
}


def _by_folder(tree: Tree) -> dict[str, Files]:
    """The files of each student, where a student is a folder or a single file named after them."""
    name, entries = _below_wrappers(tree)
    students: dict[str, Files] = {}
    own = [parts for parts, _ in entries if len(parts) == 1 and _holds_harness(parts[0])]
    if own:  # the source is one student's folder
        return {name or "harness": entries}
    for parts, entry in entries:
        if len(parts) > 1:
            students.setdefault(parts[0], []).append((parts[1:], entry))
        elif parts[0].lower().endswith(".py"):
            students.setdefault(parts[0][:-3], []).append((("harness.py",), entry))
        elif stem := archive_stem(parts[0]):
            students.setdefault(stem, []).append((parts, entry))
    return students


def _holds_harness(name: str) -> bool:
    """Whether a file is the harness, or an archive that is called like it."""
    return is_harness(name) or archive_stem(name).casefold() == "harness"


def _below_wrappers(tree: Tree) -> tuple[str, Files]:
    """The files below folders that only wrap everything, and the innermost wrapper's name."""
    name, entries = tree.name, [(entry.parts, entry) for entry in tree.entries]
    while entries and len({parts[0] for parts, _ in entries}) == 1:
        inner = [parts[1:] for parts, _ in entries]
        if not all(inner) or not _is_wrapper(entries[0][0][0], inner):
            break
        name = entries[0][0][0]
        entries = [(parts[1:], entry) for parts, entry in entries]
    return name, entries


def _is_wrapper(name: str, inner: list[tuple[str, ...]]) -> bool:
    """Whether a folder that is alone wraps students, rather than being the only student."""
    if _MOODLE.fullmatch(name):
        return False
    if any(parts[-1] == gradescope.METADATA for parts in inner):
        return True
    flat = [parts[0] for parts in inner if len(parts) == 1]
    if any(map(_holds_harness, flat)) or (len(inner) == 1 and any(map(archive_stem, flat))):
        return False
    if flat and len(flat) == len(inner):
        return True
    return any(is_harness(parts[-1]) or archive_stem(parts[-1]) for parts in inner)


def _canvas_match(parts: tuple[str, ...]) -> re.Match[str] | None:
    """Canvas names only the file itself; a folder around it would not be Canvas's."""
    if len(parts) != 1:
        return None
    return _CANVAS_ANONYMOUS.fullmatch(parts[0]) or _CANVAS.fullmatch(parts[0])


def _moodle_match(parts: tuple[str, ...]) -> re.Match[str] | None:
    return _MOODLE.fullmatch(parts[0])


def _classroom_prefix(tree: Tree, *, certain: bool) -> str:
    """What comes before the user names, with its dash; empty where it can't be told.

    Args:
        tree: what is in a source.
        certain: whether to trust only a download that carries its assignment's name.
    """
    name, _ = _below_wrappers(tree)
    folders = list(_by_folder(tree))
    slug = name.removesuffix("-submissions")
    if slug != name and folders and all(folder.startswith(f"{slug}-") for folder in folders):
        return f"{slug}-"
    common = _common_start(folders) if len(folders) > 1 else ""
    prefix = common[: common.rfind("-") + 1]
    # <classroom>-<assignment>-<username>: two dashes tell it from students called s-01, s-02.
    return prefix if not certain or prefix.count("-") >= 2 else ""


def _common_start(names: list[str]) -> str:
    first, last = min(names), max(names)
    same = (i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1])
    return first[: next(same, min(len(first), len(last)))]


def _share(answers: Iterable[bool]) -> float:
    listed = list(answers)
    return sum(listed) / len(listed) if listed else 0.0
