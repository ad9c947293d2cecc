"""Which failures of a report have one cause: told once, in full where it is simplest."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.records import TestResult

_RAISED = re.compile(r"it raised (\w+)")
# What is drawn anew for each test, so that it can't tell two causes apart.
_DRAWN = re.compile(r'"(?:[^"\\\n]|\\.)+"|\b[a-z]?\d+\b|\b(?:get|run|find|send|make)_[a-z]{6}\b')
_MESSAGE = r"(?:U|A(?:\[[^\]\s]*\])?(?:\(error\))?|R\([^)\s]*\))"
_SHAPE = re.compile(rf"\b{_MESSAGE}(?: {_MESSAGE})+(?: …)?")
_ENOUGH = 3_000  # characters of a text, which is anybody's
_ALIKE = 8  # lines of a replay that make it no simpler than another
_SEVERAL = re.compile("…(?:, …)+")
_IN_A_LIST = re.compile(r"[-+] ")


def groups(tests: Iterable[TestResult]) -> list[list[TestResult]]:
    """What did not pass, those with one cause together, in the order of their first.

    The simplest of a group stands first in it, and has the group's wrong answer if any of them has one.
    """
    found: list[list[TestResult]] = []
    for test in tests:
        if test.outcome != "pass":
            known = next((group for group in found if _one_cause(group, test)), None)
            if known is None:
                found.append([test])
            else:
                known.append(test)
    return [_simplest_first(group) for group in found]


def happened(test: TestResult) -> str:
    """A test's message without the values it was given, which stand elsewhere."""
    return test.message.removeprefix(f"Given {test.given}: ") if test.given else test.message


def has_shapes(test: TestResult) -> bool:
    """Whether what is told of a failure holds a transcript in letters, such as U A[c1] R(c1)."""
    told = [test.given, test.message, test.rule.text, test.rule.why, test.hint]
    if not test.diff:
        told += [test.expected, test.observed]
    return any(_SHAPE.search(text[:_ENOUGH]) for text in told)


def _simplest_first(group: list[TestResult]) -> list[TestResult]:
    if group[0].outcome != "fail" or len(group) == 1:
        return group
    first = min(group, key=lambda test: (test.replay.count("\n") // _ALIKE, test.number))
    rest = [test for test in group if test is not first]
    named = (test.wrong_answer for test in group if test.wrong_answer is not None)
    wrong = first.wrong_answer or next(named, None)
    return [replace(first, wrong_answer=wrong), *rest]


def _one_cause(group: list[TestResult], test: TestResult) -> bool:
    one = group[0]
    if one.outcome != test.outcome or one.kind != test.kind:
        return False
    if test.outcome != "fail":
        return one.message == test.message
    if test.kind != "rule":
        return _accident(one) == _accident(test)
    return _one_mistake(one, test, [*group, test])


def _one_mistake(one: TestResult, test: TestResult, among: list[TestResult]) -> bool:
    """Whether two tests whose rules are broken broke on the same thing; `among` are those told with them."""
    both_named = one.wrong_answer is not None and test.wrong_answer is not None
    if both_named and happened(one) == happened(test):
        return True  # word for word: rules have each their own name for one and the same mistake
    names = {each.wrong_answer.id for each in among if each.wrong_answer is not None}
    if len(names) > 1:
        return False
    if _same_idea(one, test):
        return True
    return _core(one) == _core(test) and (both_named or _seen(one) == _seen(test))


def _accident(test: TestResult) -> object:
    """Equal for two accidents that are one: an exception at one line, a name missing."""
    if test.kind == "missing_name":
        return test.observed  # whoever asked for it
    if test.traceback and test.traceback[-1].startswith("harness.py:"):
        raised = _RAISED.search(test.observed)
        return (test.traceback[-1], raised and raised[1])
    return test.observed


def _same_idea(one: TestResult, other: TestResult) -> bool:
    """One wrong answer, told in the same words, about one place."""
    at_one_place = one.location is not None and one.location == other.location
    return at_one_place and one.wrong_answer is not None and one.wrong_answer == other.wrong_answer


def _core(test: TestResult) -> str:
    return _undrawn(happened(test))


@functools.lru_cache(maxsize=256)
def _undrawn(text: str) -> str:
    """A text without ids, numbers, words and shapes; of a very long one, its beginning."""
    return _SEVERAL.sub("…", _DRAWN.sub("…", _SHAPE.sub("…", text[:_ENOUGH])))


def _seen(test: TestResult) -> object:
    """What was observed, without what is drawn anew each time and without what is as it should be."""
    if not test.diff:
        return _undrawn(test.observed)
    marked = [line for line in test.diff.split("\n") if _IN_A_LIST.match(line)]
    return tuple(dict.fromkeys(map(_undrawn, marked)))
