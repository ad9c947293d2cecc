"""A name that is missing, and what may have been meant by it."""

from __future__ import annotations

import time

import pytest

from grader.spelling import defined, meant

TEXT = """\
INTERUPTED = "x"
LIMIT: int = 3
if LIMIT == 3: pass

class Harness:
    def promt(self):
        def helper(): pass

    async def close(self): pass

def steer(self): pass

def repairToolHistory(messages):
    kept = []

def make_write_tool(): pass
"""


def test_what_a_file_defines() -> None:
    assert defined(TEXT) == {
        "INTERUPTED": 1,
        "LIMIT": 2,
        "Harness": 5,
        "Harness.promt": 6,
        "Harness.promt.helper": 7,
        "Harness.close": 9,
        "steer": 11,
        "repairToolHistory": 13,
        "make_write_tool": 16,
    }


@pytest.mark.parametrize(
    ("name", "is_meant"),
    [
        ("INTERRUPTED", "INTERUPTED"),
        ("repair_tool_history", "repairToolHistory"),
        ("Harness.prompt", "Harness.promt"),
        ("Harness.steer", "steer"),
        ("helper", "Harness.promt.helper"),
        ("Harnes.prompt", "Harness"),
        ("make_edit_tool", ""),
        ("context_for_model", ""),
        ("prompt", ""),
    ],
)
def test_what_is_meant(name: str, is_meant: str) -> None:
    assert meant(name, defined(TEXT), {"make_write_tool"}) == is_meant


def test_a_file_full_of_names_is_quick() -> None:
    text = "\n".join(f"def repair_yloot_hist{number:04}(x): pass" for number in range(6_000))
    began = time.process_time()
    meant("repair_tool_history", defined(text), ())
    assert time.process_time() - began < 1


@pytest.mark.parametrize("name", ["a." * 5_000 + "a", "x" * 1_000_000, "", ".", "a..b"])
def test_whatever_the_name(name: str) -> None:
    began = time.process_time()
    assert meant(name, defined(TEXT), ()) == ""
    assert time.process_time() - began < 0.5


def test_a_file_that_is_nested_without_end_is_quick() -> None:
    text = "\n".join(" " * depth + f"class {'x' * 79}:" for depth in range(1_000))
    began = time.process_time()
    assert max(map(len, defined(text))) <= 400
    assert time.process_time() - began < 1
