"""What the class knows, and what it doesn't: by test, by rule, by score; and which files are alike."""

from __future__ import annotations

import statistics as numbers
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.cohort.standing import Standing
    from grader.records import TestCase

_FEWEST = 5  # students, below which a correlation says nothing


@dataclass(frozen=True)
class Misconception:
    """A wrong answer, and who gave it."""

    id: str
    text: str
    count: int
    students: tuple[str, ...]


@dataclass(frozen=True)
class TestFigures:
    """One test. Rates are of those who were judged: a file that can't be loaded says nothing about it.

    `discrimination` is the correlation, over students, between passing this test and the points in all
    others: near 1 it tells the strong from the weak, near 0 it tells nothing, below 0 it misleads. None
    where it can't be told: too few students, or all with the same outcome. Times in seconds.
    """

    __test__ = False  # pytest: a record, not a test class

    id: str
    number: int
    title: str
    rule: str
    points: int
    passed: int
    failed: int
    not_run: int
    errors: int
    pass_rate: float | None
    discrimination: float | None
    median_s: float
    slowest_s: float
    kinds: tuple[tuple[str, int], ...]
    wrong_answers: tuple[Misconception, ...]


@dataclass(frozen=True)
class RuleFigures:
    """One rule: who holds it in all of its tests, and what the others think instead."""

    id: str
    text: str
    why: str
    section: str
    tests: tuple[str, ...]
    judged: int
    passed: int
    pass_rate: float | None
    wrong_answers: tuple[Misconception, ...]


@dataclass(frozen=True)
class ScoreFigures:
    """The distribution of scores: `counts[p]` students have p points."""

    counts: tuple[int, ...]
    mean: float | None
    median: float | None
    quartiles: tuple[float, float] | None


@dataclass(frozen=True)
class Figures:
    """All of it. `overridden` students have an override, which counts in `passed` and the scores. `alike` are groups of students whose files differ in comments and layout at most."""

    students: int
    graded: int
    passed: int
    errors: int
    missing: int
    pending: int
    problems: tuple[tuple[str, int], ...]
    tests: tuple[TestFigures, ...]
    rules: tuple[RuleFigures, ...]
    scores: ScoreFigures
    duration_median_s: float
    duration_slowest_s: float
    alike: tuple[tuple[str, ...], ...]
    untouched: tuple[str, ...]
    overridden: int = 0


def figures(
    rows: Sequence[Standing],
    tests: Sequence[TestCase],
    *,
    final: Sequence[Standing] = (),
    starter: str = "",
) -> Figures:
    """The figures of a cohort.

    Args:
        rows: one row a student counts; others are left out.
        tests: the lesson's.
        final: the same with overrides on top, from which the scores and who passed are taken; tests and
            rules are told as they were graded.
        starter: the likeness of the file that the lab starts from: to hand it in is to copy nobody.
    """
    rows = [row for row in rows if row.counts]
    graded = [row for row in rows if row.status == "graded"]
    standing = [row for row in final or rows if row.counts]
    times = [row.duration_s for row in graded]
    return Figures(
        students=len(rows),
        graded=len(graded),
        passed=sum(row.verdict == "pass" for row in standing if row.status == "graded"),
        errors=sum(row.status == "error" for row in rows),
        missing=sum(row.status == "missing" for row in rows),
        pending=sum(row.status == "pending" for row in rows),
        problems=_tally(row.problem for row in graded),
        tests=tuple(_test(place, test, graded) for place, test in enumerate(tests)),
        rules=_rules(graded, tests),
        scores=_scores(standing, sum(test.points for test in tests)),
        duration_median_s=round(numbers.median(times), 3) if times else 0.0,
        duration_slowest_s=max(times, default=0.0),
        alike=_alike(rows, starter),
        untouched=tuple(row.student for row in rows if starter and row.likeness == starter),
        overridden=sum(bool(row.overrides) for row in standing),
    )


def _test(place: int, test: TestCase, rows: Sequence[Standing]) -> TestFigures:
    outcomes = Counter(row.outcomes[place] for row in rows if row.outcomes)
    judged = [row for row in rows if row.outcomes and row.outcomes[place] in ("pass", "fail")]
    times = [row.durations_s[place] for row in judged if row.durations_s]
    passed = outcomes["pass"]
    return TestFigures(
        id=test.id,
        number=test.number,
        title=test.title,
        rule=test.rule.id,
        points=test.points,
        passed=passed,
        failed=outcomes["fail"],
        not_run=outcomes["not_run"],
        errors=outcomes["error"],
        pass_rate=_rate(passed, len(judged)),
        discrimination=_discrimination(place, test, judged),
        median_s=round(numbers.median(times), 4) if times else 0.0,
        slowest_s=max(times, default=0.0),
        kinds=_tally(row.kinds[place] for row in judged if row.kinds),
        wrong_answers=_misconceptions([place], [test], judged),
    )


def _discrimination(place: int, test: TestCase, judged: Sequence[Standing]) -> float | None:
    """The correlation of this test with the points of the rest."""
    if len(judged) < _FEWEST:
        return None
    passed = [float(row.outcomes[place] == "pass") for row in judged]
    rest = [
        (row.graded_points or 0) - test.points * won
        for row, won in zip(judged, passed, strict=True)
    ]
    try:
        return round(numbers.correlation(passed, rest), 3)
    except numbers.StatisticsError:  # all have the same outcome, or the same rest
        return None


def _rules(rows: Sequence[Standing], tests: Sequence[TestCase]) -> tuple[RuleFigures, ...]:
    places: dict[str, list[int]] = {}
    for place, test in enumerate(tests):
        places.setdefault(test.rule.id, []).append(place)
    return tuple(_rule(of_rule, tests, rows) for of_rule in places.values())


def _rule(places: list[int], tests: Sequence[TestCase], rows: Sequence[Standing]) -> RuleFigures:
    rule = tests[places[0]].rule
    judged = passed = 0
    for row in rows:
        outcomes = {row.outcomes[place] for place in places} if row.outcomes else set()
        if outcomes & {"pass", "fail"}:
            judged += 1
            passed += outcomes == {"pass"}
    return RuleFigures(
        id=rule.id,
        text=rule.text,
        why=rule.why,
        section=rule.section,
        tests=tuple(tests[place].id for place in places),
        judged=judged,
        passed=passed,
        pass_rate=_rate(passed, judged),
        wrong_answers=_misconceptions(places, [tests[place] for place in places], rows),
    )


def _misconceptions(
    places: Sequence[int], tests: Sequence[TestCase], rows: Sequence[Standing]
) -> tuple[Misconception, ...]:
    """The wrong answers given in these tests, most common first; a student counts once for each."""
    texts = {wrong.id: wrong.text for test in tests for wrong in test.rule.wrong_answers}
    given: dict[str, list[str]] = {}
    for row in rows:
        if row.wrong_answers:
            for wrong in sorted({row.wrong_answers[place] for place in places} - {""}):
                given.setdefault(wrong, []).append(row.student)
    ordered = sorted(given.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        Misconception(wrong, texts.get(wrong, ""), len(who), tuple(who)) for wrong, who in ordered
    )


def _scores(rows: Sequence[Standing], max_points: int) -> ScoreFigures:
    points = [row.points for row in rows if row.points is not None]
    counts = [0] * (max([max_points, *points]) + 1)
    for one in points:
        counts[one] += 1
    quartiles = numbers.quantiles(points, n=4, method="inclusive") if len(points) > 1 else None
    return ScoreFigures(
        counts=tuple(counts),
        mean=round(numbers.fmean(points), 2) if points else None,
        median=float(numbers.median(points)) if points else None,
        quartiles=(quartiles[0], quartiles[2]) if quartiles else None,
    )


def _alike(rows: Sequence[Standing], starter: str) -> tuple[tuple[str, ...], ...]:
    """Students with like files, without those who handed in together or handed in the starter."""
    groups: dict[str, list[Standing]] = {}
    for row in rows:
        if row.likeness and row.likeness != starter:
            groups.setdefault(row.likeness, []).append(row)
    found = []
    for ones in groups.values():
        together = {one.student for one in ones} <= {ones[0].student, *ones[0].group}
        if len(ones) > 1 and not together:
            found.append(tuple(one.student for one in ones))
    return tuple(sorted(found, key=lambda names: (-len(names), names)))


def _tally(values: Iterable[str]) -> tuple[tuple[str, int], ...]:
    counted: Counter[str] = Counter(filter(None, values))
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
