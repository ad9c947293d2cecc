"""What is remembered from one command to the next, in small files of the user's own.

A convenience and nothing else: where a file can't be read, is damaged or can't be written, nothing is
remembered, and nobody is told off. No verdict depends on what is in there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_FILES = 200  # the oldest go first


class Memory:
    """What is known about one subject, such as a submission and the lesson it was graded for.

    Args:
        subject: a path, or a word of our own.
        lesson: the lesson's number.
        environ: where the user's folder is looked up; under CI nothing is remembered, because
            there one folder serves many people.
    """

    def __init__(self, subject: str, lesson: int, environ: Mapping[str, str] = os.environ) -> None:
        folder = _folder(environ)
        key = hashlib.sha256(f"{subject}\0{lesson}".encode(errors="surrogatepass")).hexdigest()
        self._path = None if folder is None else folder / f"lesson_{lesson:02}-{key[:24]}.json"

    @classmethod
    def of_submission(cls, path: str | os.PathLike[str], lesson: int) -> Memory:
        """What is known about the file at `path`, however that was written."""
        return cls(os.path.realpath(path), lesson)

    def failed(self) -> tuple[str, ...]:
        """Ids of the tests that did not pass when they were last run."""
        names = self._read().get("failed")
        return tuple(map(str, names)) if isinstance(names, list) else ()

    def keep_outcomes(self, outcomes: Mapping[str, str]) -> None:
        """Take in how tests came out. One that was not run is as it was before."""
        known = dict.fromkeys(self.failed())
        for name, outcome in outcomes.items():
            if outcome == "pass":
                known.pop(name, None)
            elif outcome != "not_run":
                known[name] = None
        self._write({"failed": list(known)})

    def shown(self, gap: str) -> int:
        """How many hints for a gap have been shown."""
        hints = self._read().get("hints")
        count = hints.get(gap, 0) if isinstance(hints, dict) else 0
        return count if type(count) is int and count > 0 else 0

    def keep_shown(self, gap: str, count: int) -> bool:
        """Take in how many hints have been shown. False where that can't be remembered."""
        hints = self._read().get("hints")
        return self._write({"hints": {**(hints if isinstance(hints, dict) else {}), gap: count}})

    def _read(self) -> dict[str, Any]:
        if self._path is None:
            return {}
        try:
            data = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _write(self, data: dict[str, Any]) -> bool:
        if self._path is None:
            return False
        partial = self._path.with_name(f"{self._path.name}.{os.getpid()}.partial")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(data), encoding="utf-8")
            partial.replace(self._path)
            _forget_the_oldest(self._path.parent)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            return False
        return True


def _folder(environ: Mapping[str, str]) -> Path | None:
    """Where this system keeps such files; None where there is no such place."""
    if environ.get("CI"):
        return None
    home = environ.get("XDG_STATE_HOME", "")
    if not Path(home).is_absolute():
        home = {
            "win32": environ.get("LOCALAPPDATA", ""),
            "darwin": "~/Library/Application Support",
        }.get(sys.platform, "~/.local/state")
    if home.startswith("~") and environ.get("HOME") == "":
        return None  # else it would be a folder at the root
    try:
        path = Path(home).expanduser()
    except RuntimeError:  # nobody knows where home is
        return None
    return path / "lab_check" if path.is_absolute() else None


def _forget_the_oldest(folder: Path) -> None:
    files = sorted(folder.glob("lesson_*.json"), key=lambda path: path.stat().st_mtime)
    for path in files[:-_MOST_FILES]:
        path.unlink(missing_ok=True)
