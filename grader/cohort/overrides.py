"""overrides.toml: what the instructor decided against the grader, on top of the reports, never in them.

    [[override]]
    student = "ada"
    test = "late_result"      # this test counts as passed (or `outcome = "fail"`)
    reason = "the page was unclear until Tuesday"
    who = "N. N."
    when = 2026-11-30

Instead of `test` there may be `points`, which are then the student's whole score; all that the
lesson gives is a pass.
"""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.cohort.naming import fold, tidy
from grader.cohort.standing import Applied
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from grader.cohort.standing import Standing
    from grader.records import TestCase, Verdict

FILE = "overrides.toml"
_FIELDS = {"student", "test", "outcome", "points", "reason", "who", "when"}


@dataclass(frozen=True)
class Override:
    """One entry, checked. Either `test` or `points` is given."""

    student: str
    test: str | None
    outcome: str
    points: int | None
    reason: str
    who: str
    when: str


def read(folder: Path, students: Iterable[str], tests: Sequence[TestCase]) -> tuple[Override, ...]:
    """The overrides of a batch's folder; none where there is no file.

    Args:
        folder: the output folder.
        students: the keys that there are.
        tests: the lesson's.

    Raises:
        UsageError: the file is no TOML, or an entry names nobody, no test, no reason, nobody to ask.
    """
    path = folder / FILE
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise UsageError(f"{path} can't be read: {exc}", help="Mend the TOML.") from exc
    known = {fold(key): key for key in students}
    entries = data.get("override", [])
    if not isinstance(entries, list) or set(data) - {"override"}:
        raise UsageError(f"{path}: it holds something else than [[override]] entries.")
    return tuple(
        _checked(f"{path}, override {number}", entry, known, tests)
        for number, entry in enumerate(entries, 1)
    )


def _checked(place: str, entry: Any, known: dict[str, str], tests: Sequence[TestCase]) -> Override:
    if not isinstance(entry, dict) or set(entry) - _FIELDS:
        odd = min(set(entry) - _FIELDS) if isinstance(entry, dict) else "it"
        raise UsageError(f"{place}: {odd!r} is not known.", help=f"Known: {sorted(_FIELDS)}.")
    missing = [name for name in ("student", "reason", "who", "when") if not entry.get(name)]
    if missing:
        raise UsageError(f"{place}: `{missing[0]}` is missing.", help="Somebody will ask for it.")
    student = known.get(fold(str(entry["student"])))
    if student is None:
        raise UsageError(f"{place}: there is no student {entry['student']!r}.")
    if ("test" in entry) == ("points" in entry):
        raise UsageError(f"{place}: it takes either `test` or `points`.")
    points, outcome = entry.get("points"), entry.get("outcome", "pass")
    if points is not None and (type(points) is not int or points < 0):
        raise UsageError(f"{place}: `points` is a whole number.")
    if "test" in entry and entry["test"] not in [test.id for test in tests]:
        raise UsageError(f"{place}: the lesson has no test {entry['test']!r}.")
    if outcome not in ("pass", "fail"):
        raise UsageError(f'{place}: `outcome` is "pass" or "fail".')
    told = [tidy(str(entry[name])) for name in ("reason", "who", "when")]
    return Override(student, entry.get("test"), outcome, points, *told)


def apply(one: Standing, overrides: Iterable[Override], tests: Sequence[TestCase]) -> Standing:
    """A row with its student's overrides on top, in the order of the file. Shows what was applied.

    One of a test waits until there is a verdict on the others: a part of a score is no score.
    """
    for override in overrides:
        waits = override.test is not None and one.status in ("error", "pending")
        if override.student == one.student and one.counts and not waits:
            one = _applied(one, override, tests)
    return one


def _applied(one: Standing, override: Override, tests: Sequence[TestCase]) -> Standing:
    told = (override.reason, override.who, override.when)
    if override.points is not None:
        applied = Applied(None, override.points, *told)
        return dataclasses.replace(
            one,
            verdict=_verdict(one, passed=override.points >= one.max_points),
            points=override.points,
            overrides=(*one.overrides, applied),
        )
    outcomes = list(one.outcomes) or ["not_run"] * len(tests)
    place = next(i for i, test in enumerate(tests) if test.id == override.test)
    before = tests[place].points if outcomes[place] == "pass" else 0
    after = tests[place].points if override.outcome == "pass" else 0
    outcomes[place] = override.outcome
    applied = Applied(override.test, after, *told)
    return dataclasses.replace(
        one,
        verdict=_verdict(one, passed=set(outcomes) == {"pass"}),
        points=(one.points or 0) - before + after,
        outcomes=tuple(outcomes),
        overrides=(*one.overrides, applied),
    )


def _verdict(one: Standing, *, passed: bool) -> Verdict | None:
    """The verdict that goes with the points; where there is none, an override makes none."""
    if one.verdict in ("error", None):
        return one.verdict
    return "pass" if passed else "fail"
