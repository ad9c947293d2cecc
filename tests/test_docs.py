"""What the documents say is done: the example lesson is graded, the links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import grade, lessons
from grader.submission import from_bytes

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"(?:\*\*`([^`]+)`\*\*[^\n]*(?:\n[^`\n]+)*\n\n)?```(\w+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def example(tmp_path: Path) -> tuple[Path, str]:
    """CONTRIBUTING's lesson, written out; and its harness that passes."""
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    files = {name: text for name, _, text in blocks if name}
    assert sorted(files) == [
        "lesson_11/lesson.toml",
        "lesson_11/scenes.py",
        "lesson_11/test_lesson_11.py",
    ]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path, blocks[-1][2]


def test_the_example_lesson_is_graded(example: tuple[Path, str]) -> None:
    folder, right = example
    lesson = lessons.find(11, [folder])
    assert grade(from_bytes(right.encode()), lesson).verdict == "pass"


def test_the_example_lesson_names_its_wrong_answer(example: tuple[Path, str]) -> None:
    folder, right = example
    lesson = lessons.find(11, [folder])
    wrong = right.replace("counts = {}", 'counts = {"toolResult": 0}')
    (result,) = grade(from_bytes(wrong.encode()), lesson).tests
    assert result.wrong_answer is not None
    assert result.wrong_answer.id == "counts-what-is-not-there"
    (missing,) = grade(from_bytes(b"x = 1"), lesson).tests
    assert (missing.kind, missing.hint) == ("missing_name", lesson.names["tally"])


def test_no_file_of_the_grader_knows_the_example() -> None:
    for path in (ROOT / "grader").rglob("*.py"):
        assert "lesson_11" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
