"""The program of a room, or of a player: what an interpreter is started with, wherever it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# `lab` is imported under the name by which the students know it. Unless it stays, our own path is clean
# again before anything of a submission runs. No garbage is collected while there is none.
_START = """
import gc, sys
gc.disable()
sys.path[:0] = {folders!r}
import grader.inside.{module} as room, lab
del sys.path[:{count}]
room.main()
"""


def words(module: str, folders: Sequence[str], *, keep_path: bool = False) -> list[str]:
    """What follows the interpreter's name: no environment, no site-packages, and the program.

    Args:
        module: of `grader.inside`, whose main() runs.
        folders: that go on its path, before the standard library; among them that of `grader` and of `lab`.
        keep_path: whether they stay there once the module is imported.
    """
    count = 0 if keep_path else len(folders)
    start = _START.format(folders=list(folders), module=module, count=count)
    return ["-I", "-S", "-c", start]
