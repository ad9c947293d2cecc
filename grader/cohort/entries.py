"""What a source holds: a tree of entries, whatever it came in. Nothing of it is trusted.

An entry's name is only ever compared and shown; its bytes lie in a file whose name is ours (or, for a
folder on disk, in the file itself).
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cohort.naming import tidy
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_DRIVE = re.compile(r"[A-Za-z]:")
_IGNORED_FOLDERS = {"__MACOSX", "__pycache__", ".git", ".venv", "venv", "node_modules", ".idea"}
_ARCHIVE = re.compile(
    r"(.+?)\.(?:zip|tar|tgz|tbz2?|txz|tar\.(?:gz|bz2|xz))", re.DOTALL | re.IGNORECASE
)
NOTHING = "(nothing)"  # stands for the files of an empty folder
_IGNORED_FILES = {".DS_Store", "Thumbs.db", "desktop.ini"}


@dataclass(frozen=True)
class SourceLimits:
    """What a source may hold. Sizes in bytes; `ratio` is unpacked to packed."""

    entries: int = 50_000
    index_bytes: int = 32 << 20  # a zip's table of contents, which has to be read whole
    entry_bytes: int = 8 << 20  # of one entry that is looked at
    total_bytes: int = (
        512 << 20
    )  # of all that is unpacked; and again of all that is in students' archives
    student_bytes: int = 16 << 20  # of the Python files in one student's archive
    ratio: float = 200.0
    ratio_from_bytes: int = 1 << 20  # an entry below this size may have any ratio
    depth: int = 20


@dataclass(frozen=True)
class Entry:
    """One file of a source.

    `parts` is its place below the source, tidied; `path` is where its bytes are, None where it is
    `refused`, for the reason given there. `modified` is in seconds since 1970.
    """

    parts: tuple[str, ...]
    path: Path | None
    size: int = 0
    modified: float | None = None
    refused: str = ""

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1]


@dataclass(frozen=True)
class Tree:
    """A source: its own name, its entries, and what was refused without a usable place."""

    name: str
    entries: tuple[Entry, ...]
    refused: tuple[str, ...] = ()


def safe_parts(name: str, limits: SourceLimits) -> tuple[str, ...]:
    """The parts of an archive's entry name, as they are written. Both slashes separate.

    Raises:
        ValueError: the name leaves the archive, or is no place in it; says why.
    """
    pieces = name.replace("\\", "/").split("/")
    if pieces[0] == "" or _DRIVE.match(pieces[0]):
        raise ValueError("it has an absolute path")
    if ".." in (piece.strip() for piece in pieces):
        raise ValueError("its path leaves the archive (..)")
    parts = tuple(piece for piece in pieces if piece.strip() not in ("", "."))
    if not parts or len(parts) > limits.depth:
        raise ValueError("its path is too deep" if parts else "its path is empty")
    return parts


class Tidier:
    """Tidies paths so that two that differ stay two: the second José, in NFD, is `José (2)`."""

    def __init__(self) -> None:
        self._taken: dict[tuple[tuple[str, ...], str], str] = {}

    def parts(self, raw: Sequence[str]) -> tuple[str, ...]:
        """A path, tidied part by part; the same for the same path."""
        tidied: tuple[str, ...] = ()
        for piece in raw:
            name = wanted = tidy(piece) or "_"
            count = 1
            while self._taken.setdefault((tidied, name), piece) != piece:
                count += 1
                stem, dot, suffix = wanted.rpartition(".")
                name = f"{stem} ({count}).{suffix}" if dot else f"{wanted} ({count})"
            tidied = (*tidied, name)
        return tidied


def ignored(parts: Sequence[str]) -> bool:
    """Whether a path is clutter of an operating system, an editor or a version control."""
    folders, name = parts[:-1], parts[-1]
    return (
        bool(_IGNORED_FOLDERS.intersection(folders))
        or name in _IGNORED_FILES
        or name.startswith("._")
        or name.endswith(".pyc")
    )


def with_empty(entries: Sequence[Entry], folders: Iterable[tuple[str, ...]]) -> tuple[Entry, ...]:
    """The entries, and one for each folder that holds none: somebody handed in nothing there."""
    full = {entry.parts[:depth] for entry in entries for depth in range(1, len(entry.parts))}
    empty = []
    for folder in dict.fromkeys(folders):
        if folder and folder not in full and not ignored((*folder, NOTHING)):
            empty.append(Entry((*folder, NOTHING), None, refused="its folder is empty"))
            full |= {folder[:depth] for depth in range(1, len(folder))}
    return (*entries, *empty)


def from_folder(root: Path, limits: SourceLimits, skip: Path | None = None) -> Tree:
    """Everything below a folder on disk. Links are refused, not followed.

    Args:
        root: the folder.
        limits: how many files it may hold, how deep.
        skip: a folder that is left out, such as the one for the results.

    Raises:
        UsageError: there are more files than a cohort can have.
    """
    entries: list[Entry] = []
    folders: list[tuple[str, ...]] = []
    tidier = Tidier()
    unwanted = skip.resolve() if skip is not None else None
    for raw, item in _walk(root.resolve(), (), limits, unwanted):
        parts = tidier.parts(raw)
        if len(entries) >= limits.entries:
            raise UsageError(
                f"{root} holds more than {limits.entries:,} files.", help="Is it the right folder?"
            )
        if item.is_dir(follow_symlinks=False):
            folders.append(parts)
        else:
            entries.append(_from_disk(parts, Path(item.path), item.stat(follow_symlinks=False)))
    return Tree(tidy(root.resolve().name), with_empty(entries, reversed(folders)))


def from_files(paths: Sequence[Path]) -> Tree:
    """Single files, named one by one: `bob.py`, or `alice/harness.py`.

    Raises:
        UsageError: one can't be read.
    """
    entries = []
    for path in paths:
        try:
            found = path.stat()
        except OSError as exc:
            raise UsageError(f"{path} can't be read: {exc.strerror}.") from exc
        whole = path.resolve()
        parts = tuple(map(tidy, whole.parts[-2:] if is_harness(whole.name) else whole.parts[-1:]))
        entries.append(_from_disk(parts, whole, found))
    return Tree("", tuple(entries))


def whole(path: Path, most: int) -> bytes:
    """A file of the instructor's, such as a roster.

    Args:
        path: the file.
        most: how many bytes it may have.

    Raises:
        UsageError: it can't be read, or is larger.
    """
    try:
        if path.stat().st_size > most:
            raise UsageError(f"{path} is larger than {most:,} bytes; is it the right file?")
        return path.read_bytes()
    except OSError as exc:
        raise UsageError(f"{path} can't be read: {exc.strerror}.") from exc


def is_harness(name: str) -> bool:
    """Whether a file has the name that the lab asks for, in upper or lower case."""
    return name.casefold() == "harness.py"


def archive_stem(name: str) -> str:
    """The name of an archive without its suffix; "" where the name is no archive's that can be opened."""
    found = _ARCHIVE.fullmatch(name)
    return "" if found is None else found[1]


def _walk(
    folder: Path, above: tuple[str, ...], limits: SourceLimits, unwanted: Path | None
) -> Iterator[tuple[tuple[str, ...], os.DirEntry[str]]]:
    try:
        items = sorted(os.scandir(folder), key=lambda item: item.name)
    except OSError as exc:
        raise UsageError(f"{folder} can't be read: {exc.strerror}.") from exc
    for item in items:
        parts = (*above, item.name)
        if not item.is_dir(follow_symlinks=False):
            if not ignored(parts):
                yield parts, item
        elif (
            item.name not in _IGNORED_FOLDERS
            and len(parts) < limits.depth
            and Path(item.path) != unwanted
        ):
            yield parts, item
            yield from _walk(Path(item.path), parts, limits, unwanted)


def _from_disk(parts: tuple[str, ...], path: Path, found: os.stat_result) -> Entry:
    if stat.S_ISREG(found.st_mode):
        return Entry(parts, path, found.st_size, found.st_mtime)
    kind = "a link" if stat.S_ISLNK(found.st_mode) else "a device, a pipe or a socket"
    return Entry(parts, None, refused=f"it is {kind}")
