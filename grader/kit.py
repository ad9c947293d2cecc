"""A student's kit: the starter, the lab, and the line that grades it as every page prints it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.lessons import Lesson

_LAB = Path(__file__).resolve().parent / "lab"
_STAND_IN = (
    "# lab_check: the built-in tests of lesson {}; an author names a lesson folder here instead.\n"
)
_MARK = _STAND_IN.partition("{}")[0]

# Run as `python lab/lab_check.py`, the folder lab/ comes first on the path: taken off again, so that
# nothing in it is mistaken for a module that the grader needs.
_COMMAND = '''"""Grades this folder's harness.py: python lab/lab_check.py --harness harness.py --lesson N tests.py"""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]

try:
    from grader.start import main
except ImportError:
    sys.exit(
        "lab_check is not installed for this Python ({}).\\n"
        "Install it as your course tells you; from a clone of its repository, that is\\n"
        "{} -m pip install -e FOLDER-OF-THE-CLONE\\n"
        "or, where it is installed in a .venv already, activate that first.".format(
            sys.executable, sys.executable
        )
    )

if __name__ == "__main__":
    main()
'''


def write(lesson: Lesson, folder: Path) -> list[Path]:
    """Write the kit into `folder`, which is made if need be. Nothing is ever overwritten.

    Raises:
        UsageError: something of the kit is there already, the folder can't be written to, or the lesson
            has no starter.
    """
    files = _files(lesson)
    paths = [folder / name for name in files]
    there = [path for path in paths if os.path.lexists(path)]
    if there:
        raise UsageError(
            f"{there[0]} is there already, and a kit overwrites nothing.",
            help="Name an empty folder, or a new one.",
        )
    try:
        for path, text in zip(paths, files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            if path.name != "harness.py":
                path.chmod(0o444)
    except OSError as exc:
        raise UsageError(f"{folder} can't be written to: {exc.strerror}.") from exc
    return paths


def stands_for_builtin(path: Path) -> bool:
    """Whether `path` is a kit's tests.py, which stands for the built-in tests."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline().startswith(_MARK)
    except OSError:
        return False


def _files(lesson: Lesson) -> dict[str, str]:
    if lesson.starter is None:
        raise UsageError(f"Lesson {lesson.number} has no starter.")
    lab = {f"lab/{path.name}": path.read_text("utf-8") for path in sorted(_LAB.glob("*.py"))}
    return {
        "harness.py": lesson.starter.read_text("utf-8"),
        "tests.py": _STAND_IN.format(lesson.number),
        **{f"{name}.py": source for name, source in lesson.modules.items()},
        **lab,
        "lab/lab_check.py": _COMMAND,
    }
