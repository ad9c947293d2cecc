"""What a test will ask is found out by walking it through; and what comes of a guess that was wrong."""

from __future__ import annotations

import signal
import sys
import time
from typing import Any

import pytest

from grader.inside.compare import fits
from grader.inside.draw import Draw
from grader.inside.rehearsal import hollow, rehearsed
from grader.inside.testing import Case, Play

Question = dict[str, Any]


SHAPES: Any = {"one": lambda **_: {"said": [str, ...], "length": int}}


def walked(test: Any, *names: str) -> list[Question]:
    return rehearsed(test, names or ("play", "draw", "expect"), Draw(7, "a"), SHAPES)


def asks(scene: str, **given: Any) -> Question:
    return {"scene": scene, "given": given}


def test_every_question_is_foreseen_with_its_values() -> None:
    def test(play: Any, draw: Draw, expect: Any) -> None:
        name = draw.word()
        seen = play("one", name=name)
        expect.equal(seen["said"][0], name, lambda: "never made")
        expect.holds(seen["length"] > 2, "", expected="", observed="")
        play.case(given="", replay=lambda: "never made")
        for count in (1, 2):
            play("more", count=count)

    name = Draw(7, "a").word()
    assert walked(test) == [asks("one", name=name), asks("more", count=1), asks("more", count=2)]


def test_one_that_takes_apart_what_it_sees_is_foreseen_up_to_there() -> None:
    def test(play: Any) -> None:
        play("two", seen=play("one")["said"][1])

    assert walked(test, "play") == [asks("one")]


def test_one_that_asks_for_ever_is_left_at_some_point() -> None:
    def test(play: Any) -> None:
        while not play("two"):
            pass

    assert walked(test, "play") == [asks("two")] * 100


@pytest.mark.parametrize("raises", [pytest.fail, pytest.skip, sys.exit, lambda _: 1 / 0])
def test_whatever_it_raises_is_left_for_the_test_to_come_to(raises: Any) -> None:
    def test(play: Any) -> None:
        play("one")
        raises("at a hollow observation")

    assert walked(test, "play") == [asks("one")]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="has no clock of that kind")
def test_one_that_goes_round_and_round_is_left() -> None:
    def test(play: Any) -> None:
        seen = play("one")
        while not seen["length"]:
            pass

    before = signal.getsignal(signal.SIGALRM)
    began = time.monotonic()
    assert walked(test, "play") == [asks("one")]
    assert time.monotonic() - began < 5
    assert signal.getsignal(signal.SIGALRM) == before


def test_one_that_wants_more_is_not_walked_through() -> None:
    def test(play: Any, tmp_path: Any) -> None:
        raise AssertionError

    assert walked(test, "play", "tmp_path") == []


@pytest.mark.parametrize(
    "shape",
    [
        str,
        object,
        {"a": int, "b": [bool, ...], "c": [str, list]},
        (None, {"type": str, "line": (int, None)}),
        [({"is_run": False}, {"is_run": True}) for _ in "12"],
        "itself",
        [],
    ],
)
def test_what_stands_for_an_observation_has_its_shape(shape: Any) -> None:
    assert fits(hollow(shape), shape)


class Stage:
    """Answers each question with its own name, alone or with those that came along."""

    def __init__(self, *, together: bool = True) -> None:
        self.asked: list[list[str]] = []
        self._together = together

    def __call__(self, question: Question) -> Question:
        names = [question["scene"], *(one["scene"] for one in question["ahead"])]
        self.asked.append(names)
        several = {"ahead": names[1:]} if names[1:] and self._together else {}
        return {"observation": names[0], "stdout": "", **several}


def played(stage: Stage, script: list[str], *scenes: str) -> Play:
    play = Play(stage, Case(), {})
    play.script = [asks(scene) for scene in script]
    for scene in scenes:
        assert play(scene) == scene
    return play


@pytest.mark.parametrize(
    ("script", "scenes", "asked"),
    [
        (["a", "b", "c"], "abc", [["a", "b", "c"]]),
        (["a", "b", "c"], "ab", [["a", "b", "c"]]),
        (["a", "b"], "abc", [["a", "b"], ["c"]]),
        (["a", "b", "c"], "acb", [["a", "b", "c"], ["c"], ["b"]]),
        (["b", "a"], "ab", [["a"], ["b"]]),
        (["a"], "ab", [["a"], ["b"]]),
        ([], "ab", [["a"], ["b"]]),
    ],
)
def test_what_was_not_foreseen_is_asked_for(
    script: list[str], scenes: str, asked: list[list[str]]
) -> None:
    stage = Stage()
    play = played(stage, script, *scenes)
    assert stage.asked == asked
    assert play.together == any(len(names) > 1 for names in asked)


def test_values_have_to_be_the_same_to_the_type() -> None:
    stage = Stage()
    play = Play(stage, Case(), {})
    play.script = [asks("a", n=1), asks("b", n=1), asks("c", n=1)]
    for scene, n in (("a", 1), ("b", True), ("c", 1)):
        play(scene, n=n)
    assert stage.asked == [["a", "b", "c"], ["b"], ["c"]]


def test_where_nothing_came_of_it_each_is_asked_for() -> None:
    stage = Stage(together=False)
    play = played(stage, ["a", "b"], *"ab")
    assert stage.asked == [["a", "b"], ["b"]]
    assert not play.together


def test_again_means_one_by_one() -> None:
    stage = Stage()
    play = played(stage, ["a", "b"], *"ab")
    stage.asked.clear()
    play.again()
    assert not play.together
    for scene in "ab":
        play(scene)
    assert stage.asked == [["a"], ["b"]]
