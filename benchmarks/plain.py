"""The plain way to grade, to measure against: pytest, hidden tests and submission in one process.

The tests, scenes and fixtures are the grader's own; what is missing is everything that keeps the three
apart. `write` lays the folder out, and `python -m pytest -q` in it is the whole grader.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from grader.lessons import Lesson

_CONFTEST = """\
import sys
sys.path[:0] = {path!r}
from pathlib import Path

import harness
import pytest

from grader.inside.actor import Actor
from grader.inside.console import Console
from grader.inside.testing import Case, Draw, Expect, Play

HERE = Path(__file__).parent
SCENES = {{"__name__": "scenes"}}
exec(compile((HERE / "scenes.py").read_text(), "scenes.py", "exec"), SCENES)
SOURCE = (HERE / "harness.py").read_text()


@pytest.fixture
def case():
    return Case()


@pytest.fixture
def play(case, request):
    actor = Actor(harness, SOURCE, Console(1, 1 << 20))

    def ask(asked):
        return {{"observation": SCENES[asked["scene"]](actor, **asked["given"])}}

    return Play(ask, case, request.module.SHAPES)


@pytest.fixture
def expect(case):
    return Expect(case)


@pytest.fixture
def draw(request):
    return Draw({seed}, request.node.name.removeprefix("test_"))
"""


def write(folder: Path, lesson: Lesson, harness: Path, path: list[str], seed: int = 7) -> None:
    """Lay out one submission to be graded by plain pytest.

    Args:
        folder: empty, or not there yet.
        lesson: whose hidden tests and scenes are used.
        harness: the submission.
        path: the folders where `grader` and `lab` are imported from.
        seed: what the tests' values are drawn from.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(harness, folder / "harness.py")
    (folder / lesson.test_file).write_text(lesson.test_source, encoding="utf-8")
    (folder / "scenes.py").write_text(lesson.scene_source, encoding="utf-8")
    for name, source in lesson.modules.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    conftest = _CONFTEST.format(path=path, seed=seed)
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
