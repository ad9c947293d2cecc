"""A finished harness keeps the promises of the lessons before it: the pages say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import grade, lessons

SOLUTIONS = Path(__file__).parent / "solutions"
LATER = [(8, 7), (9, 7), (10, 7), (10, 9)]
GRADED = [(written, graded) for written, graded in LATER if graded in lessons.folders()]


def harnesses(lesson: int) -> list[Path]:
    return sorted((SOLUTIONS / f"lesson_{lesson:02}").glob("*.py"))


@pytest.mark.parametrize(
    ("path", "graded"),
    [(path, graded) for written, graded in GRADED for path in harnesses(written)],
    ids=lambda value: (
        f"{value.parent.name}-{value.stem}" if isinstance(value, Path) else str(value)
    ),
)
def test_a_later_harness_passes(path: Path, graded: int) -> None:
    report = grade(path, lesson=graded)
    told = [(t.id, t.outcome, t.message) for t in report.tests if t.outcome != "pass"]
    assert (told, report.verdict, report.problem) == ([], "pass", None)
