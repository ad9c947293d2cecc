"""The hidden tests of lesson 90."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.inside.testing import rule

if TYPE_CHECKING:
    from grader.inside.testing import Draw, Expect, Play

NUMBERS = [3, 5, 8]


@rule("twice")
def test_doubles(play: Play, expect: Expect) -> None:
    """A number is doubled."""
    play.case(given="5", replay="import harness\nprint(harness.double(5))")
    seen = play("call", function="double", values=[5])["value"]
    wrong = {"squares": 25, "adds-two": 7}
    expect.equal(seen, 10, "double gave another number.", wrong=wrong)


@rule("twice")
def test_doubles_below_zero(play: Play, expect: Expect) -> None:
    """A number below zero is doubled."""
    play.case(given="-3")
    seen = play("call", function="double", values=[-3])["value"]
    expect.equal(seen, -6, "double gave another number.", wrong={"squares": 9, "adds-two": -1})


@rule("all-of-them")
def test_totals(play: Play, expect: Expect) -> None:
    """Numbers are summed up."""
    play.case(given="[3, 5, 8]")
    seen = play("call", function="total", values=[NUMBERS])["value"]
    expect.equal(seen, 16, "total gave another sum.", wrong={"last-one-missing": 8})


@rule("by-name")
def test_greets(play: Play, draw: Draw, expect: Expect) -> None:
    """A name is greeted."""
    name = draw.text()
    play.case(given=name)
    seen = play("call", function="greet", values=[name])["value"]
    expect.equal(seen, f"hello {name}", "greet said something else.")
