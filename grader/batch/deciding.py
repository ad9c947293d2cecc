"""What the instructor decided, in the audit: a line for each override when it comes, changes, or goes."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.cohort import overrides

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.cohort.overrides import Override
    from grader.cohort.standing import Standing
    from grader.cohort.store import Store
    from grader.records import TestCase

    Key = tuple[str, str | None, int]  # student, test, which of several for the same

EVENT = "override"


@dataclass(frozen=True)
class Decided:
    """Whose overrides stand, and whose are gone since the last time; `count` is how many stand."""

    applied: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    count: int = 0


def record(
    store: Store, rows: Iterable[Standing], decided: Sequence[Override], tests: Sequence[TestCase]
) -> Decided:
    """Write what has changed since the last time into the audit; nothing where nothing has.

    Args:
        store: with the audit, locked.
        rows: where everybody stands, without overrides.
        decided: the overrides.
        tests: the lesson's.

    Raises:
        StoreError: a line can't be written.
    """
    rows = [row for row in rows if row.counts]
    known = _known(store.entries(EVENT))
    applied = []
    for key, override, before, after in _steps(rows, decided, tests):
        earlier, now = known.pop(key, None), _terms(key, override)
        if after is before:  # it waits for a verdict
            continue
        applied.append(override.student)
        if earlier is not None and all(earlier[name] == now[name] for name in now):
            continue
        change, since = (
            ("applied", _grade(before)) if earlier is None else ("changed", earlier["to"])
        )
        store.audit(EVENT, _name(after), change=change, **now, **{"from": since}, to=_grade(after))
    final = {row.student: overrides.apply(row, decided, tests) for row in rows}
    for (student, *_), earlier in known.items():
        row = final.get(student)
        store.audit(
            EVENT,
            earlier["report"] if row is None else _name(row),
            change="withdrawn",
            **{name: earlier[name] for name in _TERMS},
            **{"from": earlier["to"]},
            to=None if row is None else _grade(row),
        )
    return Decided(_once(applied), _once(student for student, *_ in known), len(applied))


_TERMS = ("student", "test", "number", "outcome", "points", "reason", "who", "decided")


def _steps(
    rows: Iterable[Standing], decided: Sequence[Override], tests: Sequence[TestCase]
) -> Iterator[tuple[Key, Override, Standing, Standing]]:
    for row in rows:
        seen: Counter[str | None] = Counter()
        before = row
        for override in decided:
            if override.student == row.student:
                after = overrides.apply(before, [override], tests)
                yield (row.student, override.test, seen[override.test]), override, before, after
                seen[override.test] += 1
                before = after


def _known(entries: Iterable[dict[str, Any]]) -> dict[Key, dict[str, Any]]:
    """The overrides that stood at the end of the audit, by key: the last line on each."""
    found: dict[Key, dict[str, Any]] = {}
    for entry in entries:
        with contextlib.suppress(TypeError):  # not a line of ours
            if {"change", "report", "to", *_TERMS} <= set(entry):
                key = (entry["student"], entry["test"], entry["number"])
                found.pop(key, None)
                if entry["change"] != "withdrawn":
                    found[key] = entry
    return found


def _terms(key: Key, override: Override) -> dict[str, Any]:
    student, test, number = key
    outcome = None if test is None else override.outcome
    told = (student, test, number, outcome, override.points)
    return dict(zip(_TERMS, (*told, override.reason, override.who, override.when), strict=True))


def _grade(row: Standing) -> dict[str, Any]:
    return {"verdict": row.verdict, "points": row.points}


def _name(row: Standing) -> str:
    return row.report.removeprefix("reports/").removesuffix(".json")


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
