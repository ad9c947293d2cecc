"""What the text says of one failure and of several that have one cause."""

from __future__ import annotations

from typing import Any

from grader.records import TestResult
from grader.render import text
from grader.render.details import details
from tests.render.reports import case, report

FRAMES = ("harness.py:3 in f: g(x)", "harness.py:9 in g: x['no']")


def raised(name: str, number: int, **fields: Any) -> TestResult:
    told = {"kind": "exception", "observed": "f(x): it raised KeyError: 'no'", "traceback": FRAMES}
    return case(name, number, "fail", message="it raised", **{**told, **fields})


def test_an_exception_has_its_traceback_and_ends_on_what_was_raised() -> None:
    one = raised("late_result", 1)
    told = text.render(report("fail", [one]))
    assert (
        "  traceback   harness.py:3 in f: g(x)\n"
        "              harness.py:9 in g: x['no']\n"
        "              KeyError: 'no'\n"
    ) in told
    assert "your code" not in told
    assert {each.label: each.text for each in details(one)}["traceback"].endswith("KeyError: 'no'")


def test_a_traceback_is_bounded_and_one_without_lines_is_none() -> None:
    long = raised("late_result", 1, traceback=("harness.py:3 in f: " + "x" * 9_000,))
    assert len(text.own_code(long)) < 300
    bare = raised("late_result", 1, traceback=("f begins at line 3",))
    assert (text.code_label(bare), text.own_code(bare)) == ("your code", "f begins at line 3")


def test_several_with_one_cause_have_the_rule_of_the_first_and_why() -> None:
    one, two = raised("late_result", 1), raised("record_is_untouched", 2)
    told = " ".join(text.render(report("fail", [one, two])).split())
    assert "FAILED 2 record_is_untouched" in told
    assert f"rule {one.rule.text}" in told
    assert f"why {one.rule.why}" in told
    assert two.rule.why not in told
    assert details(one, alone=False)[0].label == "rule"


def test_letters_are_explained_once_where_they_occur() -> None:
    one = case("late_result", 1, "fail", kind="rule", given="U A[c1] R(c1) A(error)")
    two = case("record_is_untouched", 2, "fail", kind="rule", message="it is U A.")
    assert text.render(report("fail", [one, two])).count(text.SHAPES) == 1
    plain = case("late_result", 1, "fail", kind="rule", given="a record", message="A reply.")
    assert text.SHAPES not in text.render(report("fail", [plain]))
    assert text.SHAPES not in text.render(report("pass", [case("late_result", 1, "pass")]))
    assert len(text.SHAPES) <= text.WIDTH
