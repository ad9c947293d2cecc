"""Archives that students handed in: opened where the harness isn't beside them, one level deep."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from grader.cohort import archives, choosing
from grader.cohort.entries import archive_stem
from grader.cohort.naming import tidy
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.cohort.entries import Entry, SourceLimits
    from grader.cohort.people import HandIn

    File = tuple[tuple[str, ...], Entry]


class Opener:
    """Opens the students' archives of one batch.

    `refused` names what was left out of them without a place of its own.

    Args:
        spool: an existing folder for what is unpacked.
        limits: what each may hold, and all of them together.
    """

    def __init__(self, spool: Path, limits: SourceLimits) -> None:
        self._spool, self._limits = spool, limits
        self._count = self._taken = 0
        self.refused: list[str] = []

    def opened(self, handin: HandIn) -> HandIn:
        """A hand-in with the files of its archives in their places, where no harness.py lies beside them.

        Raises:
            UsageError: the students' archives together hold more than a cohort can.
            StoreError: there is no room for what is in them.
        """
        if choosing.is_named(handin):
            return handin
        whose = handin.people[0].key
        files = tuple(file for found in handin.files for file in self._files(whose, *found))
        return dataclasses.replace(handin, files=files)

    def _files(self, whose: str, parts: tuple[str, ...], entry: Entry) -> Iterator[File]:
        """A file, or what is in it. An archive within an archive stays a file."""
        if entry.path is None or not archive_stem(parts[-1]):
            yield parts, entry
            return
        self._count += 1
        folder = self._spool / f"student-{self._count:06}"
        found = archives.from_students(entry.path, folder, self._limits)
        if isinstance(found, str):
            yield parts, dataclasses.replace(entry, path=None, refused=found)
            return
        self._taken += sum(inner.size for inner in found.entries)
        if self._taken > self._limits.total_bytes:
            raise UsageError(
                f"The students' archives unpack to more than {self._limits.total_bytes:,} bytes.",
                help="Unpack them yourself, look at them, and name the folder instead.",
            )
        self.refused += [f"{'/'.join((tidy(whose), *parts))}: {line}" for line in found.refused]
        for inner in found.entries:
            if archive_stem(inner.name):
                inner = dataclasses.replace(inner, refused="it lies in another archive")  # noqa: PLW2901
            yield (*parts, *inner.parts), inner
