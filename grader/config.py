"""`[tool.lab_check]` in a course's pyproject.toml: defaults for the options of `grade`.

A file that is merely found may have been put there by the student whose work is graded. So it can set
what a report looks like, but nothing that decides where a submission runs, which tests count, or what is
written where: those are taken from a file that was named. In a pipeline nothing is looked for at all.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = "pyproject.toml"
_MARK = (
    b"lab_check"  # read as bytes first: tomllib is only imported where there is something to read
)
# Only from a file that was named.
GUARDED = frozenset({"runner", "report", "lessons", "test", "fail-under", "harness", "config"})


def settings(
    named: str | None, folder: Path, environ: Mapping[str, str] = os.environ
) -> tuple[dict[str, Any], Path | None]:
    """The table that holds here, and the file it stands in; an empty one and None where there is none.

    Args:
        named: the file that `--config` names; None: the nearest one from `folder` upwards.
        folder: where the command was given.
        environ: under CI only a named file is read.

    Raises:
        UsageError: a file can't be read, is not TOML, or sets what only a named file may set.
    """
    if named is not None:
        path = Path(named)
        return _beside(_table(path), path), path
    if environ.get("CI"):
        return {}, None
    for parent in (folder, *folder.parents):
        path = parent / _FILE
        if os.access(path, os.R_OK) and path.is_file() and (table := _table(path)):
            guarded = sorted(GUARDED & table.keys())
            if guarded:
                raise UsageError(
                    f"{path} sets {guarded[0]!r}, and it was not asked for.",
                    help="What decides where a submission runs and what counts is only taken from a"
                    f" file that is named: --config {path}, or LAB_CHECK_CONFIG.",
                )
            return table, path
    return {}, None


def here() -> Path:
    """Where the command was given; a folder that is gone has nothing above it."""
    try:
        return Path.cwd()
    except OSError:
        return Path(os.devnull)


def _table(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise UsageError(f"{path} can't be read: {exc.strerror}.") from exc
    if _MARK not in data:
        return {}
    import tomllib  # noqa: PLC0415 - see above

    try:
        table = tomllib.loads(data.decode("utf-8")).get("tool", {}).get("lab_check", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, AttributeError) as exc:
        raise UsageError(f"{path} is no TOML that can be read: {exc}") from exc
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.lab_check is not a table.")
    return {str(key).replace("_", "-"): value for key, value in table.items()}


def _beside(table: dict[str, Any], path: Path) -> dict[str, Any]:
    """Folders of lessons are named as seen from the file."""
    if "lessons" in table:
        named = table["lessons"] if isinstance(table["lessons"], list) else [table["lessons"]]
        table["lessons"] = [str(path.parent / str(each)) for each in named]
    return table
