"""Failures that have one cause are told once; those that differ are not."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from grader.records import Location, TestResult, WrongAnswer
from grader.render.causes import groups
from tests.render.reports import case

IDEA, OTHER = WrongAnswer("idea", "It misses this."), WrongAnswer("other", "It misses that.")


def failed(number: int, **fields: Any) -> TestResult:
    name = ["missing_result", "late_result", "duplicate_result"][number - 1]
    told = {"kind": "rule", "message": "Given x: it broke.", "given": "x", "observed": "this"}
    return case(name, number, "fail", **{**told, **fields})


def numbers(*tests: TestResult) -> list[list[int]]:
    return [[test.number for test in group] for group in groups(tests)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({}, {}),
        ({"given": "a", "message": "Given a: it broke."}, {}),
        (
            {"message": 'Given x: 3 calls of "get that".', "observed": "c23 of get_minaro"},
            {"message": 'Given x: 7 calls of "now go".', "observed": "e7 of run_tipoti"},
        ),
        (
            {"message": "it is U A[c1,c2] R(c1) U.", "observed": "U A"},
            {"message": "it is U A[c4] R(c4) A(error) U.", "observed": "U A[c1]"},
        ),
        ({"wrong_answer": IDEA}, {}),
        ({"wrong_answer": IDEA, "observed": "a"}, {"wrong_answer": OTHER, "observed": "b"}),
        ({"wrong_answer": IDEA, "observed": "a"}, {"wrong_answer": IDEA, "observed": "b"}),
        (
            {"wrong_answer": IDEA, "location": Location(3), "message": "one"},
            {"wrong_answer": IDEA, "location": Location(3), "message": "another"},
        ),
        ({"diff": '  a\n- "one"\n'}, {"diff": '  a\n  b\n- "two"\n- "three"'}),
        (
            {
                "kind": "exception",
                "traceback": ("harness.py:3 in f: x",),
                "observed": "it raised E: 1",
            },
            {
                "kind": "exception",
                "traceback": ("harness.py:3 in f: x",),
                "observed": "it raised E: 2",
            },
        ),
        (
            {"kind": "missing_name", "observed": "no f.", "traceback": ("harness.py:3 in g: f()",)},
            {"kind": "missing_name", "observed": "no f."},
        ),
    ],
)
def test_told_once(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert numbers(failed(1, **one), failed(2, **two)) == [[1, 2]]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"message": "one"}, {"message": "another"}),
        ({"observed": "this"}, {"observed": "that"}),
        ({"kind": "timeout"}, {"kind": "memory"}),
        (
            {"wrong_answer": IDEA, "message": 'Given x: "a b" came.'},
            {"wrong_answer": OTHER, "message": 'Given x: "c d" came.'},
        ),
        (
            {"wrong_answer": IDEA, "location": Location(3), "message": "one"},
            {"wrong_answer": IDEA, "location": Location(4), "message": "another"},
        ),
        ({"diff": "- a"}, {"diff": "+ a"}),
        (
            {
                "kind": "missing_name",
                "observed": "no steer.",
                "traceback": ("Harness begins at line 3",),
            },
            {
                "kind": "missing_name",
                "observed": "no stop.",
                "traceback": ("Harness begins at line 3",),
            },
        ),
    ],
)
def test_told_apart(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert numbers(failed(1, **one), failed(2, **two)) == [[1], [2]]


def test_a_third_joins_whom_it_is_like() -> None:
    three = failed(3, wrong_answer=OTHER, message="Given x: it fell.")
    one, two = failed(1, wrong_answer=IDEA), failed(2)
    assert numbers(one, two, three) == [[1, 2], [3]]


def test_the_simplest_stands_first_and_is_named() -> None:
    long = failed(1, replay="x\n" * 20, wrong_answer=IDEA)
    short = failed(2, replay="x\n")
    (group,) = groups([long, short])
    assert group == [replace(short, wrong_answer=IDEA), long]


@pytest.mark.parametrize("piece", ['\\"', '"', "A[", "R(", "U ", "…, ", "a1 ", "\n"])
def test_hostile_texts_are_quick(piece: str) -> None:
    tests = [failed(n, observed=piece * 5_000 + str(n), message=piece * 5_000) for n in (1, 2, 3)]
    began = time.process_time()
    assert sum(map(len, groups(tests))) == 3
    assert time.process_time() - began < 2
