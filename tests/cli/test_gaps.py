"""Notes about a starter: gaps that nobody touched, changes outside of them, and when to say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import gaps, grade, lessons
from grader.submission import from_bytes
from tests.cli.calling import RIGHT, ROOT, STARTER

NUMBERS = sorted(lessons.folders())
TEXT = STARTER.read_text(encoding="utf-8")
HINT = "Stuck? `lab_check hint --lesson 10` gives hints for a gap, one by one."
SOLUTION = RIGHT.read_text(encoding="utf-8")


def notes(text: str, number: int = 10) -> tuple[str, ...]:
    return gaps.notes(lessons.find(number), text)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_starter_and_its_solution(number: int) -> None:
    starter = ROOT / "starters" / f"lesson_{number:02}" / "harness.py"
    solution = ROOT / "tests" / "solutions" / f"lesson_{number:02}" / "harness.py"
    told = "Every gap is still as the starter has it."
    assert notes(starter.read_text(encoding="utf-8"), number) == (told,)
    assert notes(solution.read_text(encoding="utf-8"), number) == ()


def test_a_gap_that_is_left_is_named_by_its_line() -> None:
    first, second = (TEXT.index("# --- your code ---"), TEXT.rindex("# --- your code ---"))
    half = TEXT[:second] + SOLUTION[SOLUTION.rindex("# --- your code ---") :]
    line = TEXT.count("\n", 0, first) + 1
    assert notes(half) == (f"Gap 1 (line {line}) of 2 is still as the starter has it.",)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "  \n"),
        lambda text: text.replace("\n", "\t\n\n"),
        lambda text: text + "\n\n",
        lambda text: "# Ada Lovelace, group 3\n" + text + "# the end\n",
    ],
)
def test_blanks_and_comments_are_no_change(change: object) -> None:
    assert callable(change)
    assert notes(change(SOLUTION)) == ()
    assert notes(change(TEXT)) == ("Every gap is still as the starter has it.",)


def test_line_ends_of_another_system_are_no_change() -> None:
    data = TEXT.replace("\n", "\r\n").encode()
    report = grade(from_bytes(data), 10, tests=["late_result"])
    assert report.notes == ("Every gap is still as the starter has it.", HINT)


def test_hints_are_spoken_of_once_where_a_gap_is_left_and_something_fails(tmp_path: Path) -> None:
    lesson = lessons.find(10)
    assert gaps.notes(lesson, TEXT, failed=True).count(HINT) == 1
    assert HINT not in gaps.notes(lesson, TEXT)
    assert HINT not in gaps.notes(lesson, SOLUTION, failed=True)
    (tmp_path / "starters").symlink_to(ROOT / "starters")
    folder = tmp_path / "hidden_tests" / "lesson_10"
    folder.mkdir(parents=True)
    bare = type(lesson)(**{**vars(lesson), "folder": folder})
    assert len(gaps.notes(bare, TEXT, failed=True)) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SYSTEM = ", "SYSTEM = SYSTEM_2 = "),
        ("import json\n", "import json\nimport os\n"),
        ("        print(json.dumps(event))\n", ""),
    ],
)
def test_a_change_outside_is_told_with_its_line(old: str, new: str) -> None:
    (note,) = notes(SOLUTION.replace(old, new, 1))
    assert note.startswith("Lines outside of the gaps were changed. That is allowed, but ")
    changed = SOLUTION.replace(old, new, 1).split("\n")
    pairs = enumerate(zip(SOLUTION.split("\n"), changed, strict=False), start=1)
    where, was, now = next((at, one, two) for at, (one, two) in pairs if one != two)
    assert f"The first is line {where}. The starter has `{was.strip()[:60]}" in note
    assert f"; yours has `{now.strip()[:60]}" in note
    with_end = notes(SOLUTION + "x = 1\n")
    assert "The starter has its end there; yours has `x = 1`." in with_end[0]
    assert f"The first is line {SOLUTION.count(chr(10)) + 1}." in with_end[0]


def test_a_function_that_stands_elsewhere_than_its_gap_is_told() -> None:
    text = SOLUTION.replace("def context_for_model(", "def chosen(")
    text += "\n\ndef context_for_model(messages):\n    return tuple(chosen(messages))\n"
    line = text[: text.index("def context_for_model(")].count("\n") + 1
    told = notes(text)
    assert [note.split(",")[0] for note in told[1:]] == [
        f"`context_for_model` begins at line {line}"
    ]
    again = SOLUTION + "\n\ndef context_for_model(messages):\n    return list(messages)\n"
    assert notes(again)[1].startswith("`context_for_model` begins at line ")


def test_a_long_line_is_quoted_in_part() -> None:
    (note,) = notes(SOLUTION.replace("SYSTEM = ", f"SYSTEM = {'x' * 500} = ", 1))
    assert "…`" in note
    assert len(note) < 500


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "# --- your code ---\n" * 3,
        SOLUTION.replace("# --- your code ---", "# mine"),
        "# --- your code ---\n# --- end ---\n# --- your code ---\n# --- end ---\n",
    ],
)
def test_what_was_not_made_from_the_starter_is_not_compared(text: str) -> None:
    assert notes(text) == ()


def test_a_harness_of_a_later_lesson_is_not_found_fault_with() -> None:
    assert notes(SOLUTION, 7) == notes(SOLUTION, 9) == ()


def test_a_lesson_without_a_starter(tmp_path: Path) -> None:
    lesson = lessons.load(lessons.folders()[10])
    moved = type(lesson)(**{**vars(lesson), "folder": tmp_path / "a" / "lesson_99"})
    assert gaps.notes(moved, TEXT) == ()
