"""What the class knows; which files are alike; what was decided against the grader."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from grader.cohort import likeness, naming, overrides, statistics
from grader.cohort.standing import Standing
from grader.errors import UsageError
from tests.cohort.helpers import LESSON

if TYPE_CHECKING:
    from pathlib import Path

TESTS = LESSON.tests


def row(
    student: str, outcomes: str, *, wrong: tuple[str, ...] = ("", "", "", ""), **more: Any
) -> Standing:
    words = {"p": "pass", "f": "fail", "e": "error", "n": "not_run"}
    told = tuple(words[letter] for letter in outcomes)
    points = outcomes.count("p")
    base = Standing(student, "", "", "graded", "fail", points, 4, points)
    durations = (0.1,) * len(told)
    return dataclasses.replace(
        base, outcomes=told, wrong_answers=wrong, kinds=("",) * 4, durations_s=durations, **more
    )


def test_rates_are_of_those_who_were_judged() -> None:
    rows = [row("a", "pppp"), row("b", "ffpp"), row("c", "nnnn", problem="syntax_error")]
    rows.append(Standing("d", "", "", "missing"))
    figures = statistics.figures(rows, TESTS)
    first, rule = figures.tests[0], figures.rules[0]
    assert (first.passed, first.failed, first.not_run, first.pass_rate) == (1, 1, 1, 0.5)
    assert (rule.id, rule.judged, rule.passed, rule.tests) == (
        "twice",
        2,
        1,
        ("doubles", "doubles_below_zero"),
    )
    assert (figures.students, figures.graded, figures.missing) == (4, 3, 1)
    assert figures.problems == (("syntax_error", 1),)
    assert (figures.scores.counts, figures.scores.median) == ((1, 0, 1, 0, 1), 2.0)


def test_misconceptions_most_common_first_a_student_once() -> None:
    squares, adds = ("squares", "squares", "", ""), ("adds-two", "", "", "")
    rows = [row("a", "ffpp", wrong=squares), row("b", "ffpp", wrong=squares)]
    rows += [row("c", "fppp", wrong=adds)]
    (first, second) = statistics.figures(rows, TESTS).rules[0].wrong_answers
    assert (first.id, first.count, first.students) == ("squares", 2, ("a", "b"))
    assert (second.id, second.count) == ("adds-two", 1)
    assert first.text.startswith("The number is multiplied by itself")


def test_discrimination() -> None:
    strong, weak = (
        [row(f"s{i}", "pppf") for i in range(4)],
        [row(f"w{i}", "fffp") for i in range(4)],
    )
    figures = statistics.figures(strong + weak, TESTS)
    assert figures.tests[0].discrimination == 1.0
    assert figures.tests[3].discrimination == -1.0
    assert statistics.figures(strong, TESTS).tests[0].discrimination is None  # too few
    same = [row(f"s{i}", "pppp") for i in range(9)]
    assert statistics.figures(same, TESTS).tests[0].discrimination is None  # all alike
    assert statistics.figures([], TESTS).tests[0].pass_rate is None


def test_alike_without_groups_and_the_starter() -> None:
    rows = [row(name, "pppp", likeness="x") for name in "ab"]
    rows += [row(name, "pppp", likeness="start") for name in "cd"]
    rows += [row(a, "pppp", likeness="pair", group=(b,)) for a, b in ("ef", "fe")]
    rows += [row("g", "pppp", likeness="own")]
    figures = statistics.figures(rows, TESTS, starter="start")
    assert (figures.alike, figures.untouched) == ((("a", "b"),), ("c", "d"))


SOURCE = "def f(a):\n    if a:\n        return 'x'\n    return g(a, 1)\n"


@pytest.mark.parametrize(
    "other",
    [
        "# mine\n\ndef f(a):  # really\n  if a:\n    return 'x'\n\n  return g(a,\n    1)\n",
        SOURCE.replace("    ", "\t"),
        SOURCE + "\n\n# end",
    ],
)
def test_the_same_but_for_comments_and_layout(other: str) -> None:
    assert likeness.of(SOURCE) == likeness.of(other)


@pytest.mark.parametrize(
    "other",
    [
        SOURCE.replace("1", "2"),
        SOURCE.replace("    return g", "        return g"),
        SOURCE.replace("'x'", "'# x'"),
        SOURCE.replace("f(", "h("),
    ],
)
def test_not_the_same(other: str) -> None:
    assert likeness.of(SOURCE) != likeness.of(other)


@pytest.mark.parametrize(
    "text", ["", "'", '"""', "((((", "\0", "a\n  b\n c", "(" * 5000, "\\", "é = 1 $"]
)
def test_what_is_no_python_is_compared_by_its_words(text: str) -> None:
    assert likeness.of(text) == likeness.of(text)
    assert likeness.of("if (") == likeness.of("if  (")


# --- names --------------------------------------------------------------------------------------------


def test_file_names_are_plain_short_and_no_two_alike() -> None:
    keys = ["ada", "Ada", "a/../b", "小明", "小红", "x" * 900, "x" * 901, "..", "con", "a\nb", ""]
    names = [naming.file_name(key) for key in keys]
    assert len({name.lower() for name in names}) == len(keys)
    assert all(name.isascii() and len(name) < 80 and "/" not in name for name in names)
    assert not any(name.startswith(".") for name in names)


def test_a_squashed_name() -> None:
    assert "doejaneann" in naming.squashed("Jane Ann Doe")
    assert naming.squashed("O'Neil") == {"oneil", "neilo"}


# --- overrides ----------------------------------------------------------------------------------------

GOOD = 'student = "ada"\nreason = "r"\nwho = "w"\nwhen = "t"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[override", "can't be read"),
        ("override = 3", "something else"),
        ("other = 3", "something else"),
        ("[[override]]\n" + GOOD, "either `test` or `points`"),
        ("[[override]]\n" + GOOD + 'test = "totals"\npoints = 1', "either `test` or `points`"),
        ("[[override]]\n" + GOOD + 'test = "nothing"', "no test 'nothing'"),
        ("[[override]]\n" + GOOD + "points = -1", "whole number"),
        ("[[override]]\n" + GOOD + "points = true", "whole number"),
        ("[[override]]\n" + GOOD + 'test = "totals"\noutcome = "maybe"', "outcome"),
        ("[[override]]\n" + GOOD.replace("ada", "eve") + "points = 1", "no student 'eve'"),
        ("[[override]]\n" + GOOD.replace('who = "w"', "") + "points = 1", "`who` is missing"),
        ("[[override]]\n" + GOOD + "colour = 1", "'colour' is not known"),
    ],
)
def test_an_override_that_is_off(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "overrides.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        overrides.read(tmp_path, ["ada", "bob"], TESTS)


def test_overrides_on_top(tmp_path: Path) -> None:
    (tmp_path / "overrides.toml").write_text(
        f'[[override]]\n{GOOD}test = "totals"\n[[override]]\n{GOOD}test = "greets"\noutcome = "fail"\n'
    )
    decided = overrides.read(tmp_path, ["Ada"], TESTS)
    one = overrides.apply(row("Ada", "ppfp"), decided, TESTS)
    assert (one.points, one.graded_points, one.verdict) == (3, 3, "fail")
    assert one.outcomes == ("pass", "pass", "pass", "fail")
    assert [(o.test, o.points) for o in one.overrides] == [("totals", 1), ("greets", 0)]
    missing = overrides.apply(Standing("Ada", "", "", "missing"), decided[:1], TESTS)
    assert (missing.points, missing.verdict) == (1, None)
    assert overrides.apply(row("bob", "ffff"), decided, TESTS).overrides == ()
