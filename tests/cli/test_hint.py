"""Hints come one at a time, are remembered, and say nothing that a page's own words would."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import gaps, hints, lessons
from grader.errors import LessonError, UsageError
from tests.cli.calling import Call

NUMBERS = sorted(lessons.folders())


@pytest.mark.parametrize("number", NUMBERS)
def test_every_gap_of_a_starter_has_three_hints(number: int) -> None:
    lesson = lessons.find(number)
    assert lesson.starter is not None
    parts = gaps.take_apart(lesson.starter.read_text(encoding="utf-8"))
    known = hints.load(lesson)
    assert len(known) == len(parts.gaps)
    assert len({gap.id for gap in known}) == len(known)
    for gap in known:
        assert gap.where
        assert len(gap.hints) == 3
        assert all(hint and "def " not in hint for hint in gap.hints)


def test_one_at_a_time_and_the_last_one_stays(call: Call) -> None:
    heads = [call("hint", "--lesson", "10", "2").out.strip().splitlines()[0] for _ in range(4)]
    assert heads == [f"repair_tool_history, hint {n} of 3" for n in (1, 2, 3, 3)]
    assert "every hint" in call("hint", "--lesson", "10", "2").out
    assert [
        "every hint for context_for_model" in call("hint", "--lesson", "10", "1").out
        for _ in range(4)
    ] == [False, False, False, True]
    assert "hint 3 of 3" in call("hint", "--lesson", "10", "context_for_model").out
    assert "hint 1 of 3" in call("hint", "--lesson", "7", "1").out


def test_without_a_gap_they_are_listed(call: Call) -> None:
    call("hint", "--lesson", "10", "2")
    lines = call("hint", "--lesson", "10").out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2"]
    assert "(0 of 3 shown)" in lines[0]
    assert "(1 of 3 shown)" in lines[1]


def test_all_of_them(call: Call) -> None:
    assert call("hint", "--lesson", "10", "--all", "1").out.count("hint ") == 3
    assert call("hint", "--lesson", "9", "--all").out.count(", hint ") == 12
    assert "hint 1 of 3" in call("hint", "--lesson", "10", "1").out


def test_where_nothing_can_be_remembered_it_is_said(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    for _ in range(2):
        done = call("hint", "--lesson", "10", "1")
        assert "hint 1 of 3" in done.out
        assert "--all shows every hint" in done.err


def test_a_gap_that_is_not_there(call: Call) -> None:
    done = call("hint", "--lesson", "10", "3")
    assert done.status == 2
    assert "context_for_model, repair_tool_history" in done.err


@pytest.mark.parametrize(
    "text", ["gap = 1", "[[gap]]\nid = 'x'", "[[gap", "", "[[gap]]\nid='x'\nwhere='y'\nhints=[]"]
)
def test_hints_that_are_broken_are_the_authors_to_mend(tmp_path: Path, text: str) -> None:
    lesson = lessons.find(10)
    moved = type(lesson)(**{**vars(lesson), "folder": tmp_path})
    with pytest.raises(UsageError, match="no hints"):
        hints.load(moved)
    (tmp_path / "hints.toml").write_text(text, encoding="utf-8")
    with pytest.raises(LessonError):
        hints.load(moved)
