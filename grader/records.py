"""The vocabulary: frozen records that the whole program speaks.

`Report` is what a grading gives, and `report_from_json` turns one back that `to_json` has turned into plain
JSON. The field names of `Report` and what it contains are stable within a `SCHEMA_VERSION`;
docs/report.schema.json describes them. What crosses into a room is in `carried`, and is spoken here, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from grader.carried import Kind, Limits, Problem, ProblemKind, SceneFault, from_json, to_json

__all__ = [
    "SCHEMA_VERSION",
    "GraderInfo",
    "Kind",
    "LessonName",
    "Limits",
    "Location",
    "Outcome",
    "Problem",
    "ProblemKind",
    "Report",
    "Rule",
    "RuleText",
    "SceneFault",
    "Score",
    "Submission",
    "SubmissionName",
    "TestCase",
    "TestResult",
    "Verdict",
    "WrongAnswer",
    "from_json",
    "report_from_json",
    "to_json",
]

SCHEMA_VERSION = 1

Verdict = Literal["pass", "fail", "error"]
Outcome = Literal["pass", "fail", "error", "not_run"]


@dataclass(frozen=True)
class Submission:
    """A handed-in file, read and decoded. `text` is its source with plain newlines."""

    name: str
    text: str
    sha256: str
    size: int


@dataclass(frozen=True)
class WrongAnswer:
    """A well-known wrong idea, and what it misses."""

    id: str
    text: str


@dataclass(frozen=True)
class Rule:
    """What must hold, why, and where the page argues it. `function` is the one it is about."""

    id: str
    text: str
    why: str
    section: str
    function: str = ""
    wrong_answers: tuple[WrongAnswer, ...] = ()


@dataclass(frozen=True)
class TestCase:
    """One hidden test as the grader knows it beforehand. `line` is where it stands in its module."""

    __test__ = False  # pytest: a record, not a test class

    id: str
    number: int
    title: str
    rule: Rule
    points: int = 1
    line: int = 0


@dataclass(frozen=True)
class LessonName:
    """A lesson in a report."""

    number: int
    title: str


@dataclass(frozen=True)
class SubmissionName:
    """A submission in a report."""

    name: str
    sha256: str | None
    size: int | None


@dataclass(frozen=True)
class GraderInfo:
    """With what a verdict was reached."""

    version: str
    tests_sha256: str
    image: str | None
    runner: str
    python: str | None
    seed: int
    limits: Limits


@dataclass(frozen=True)
class Score:
    """Whole points."""

    points: int
    max_points: int


@dataclass(frozen=True)
class RuleText:
    """A rule as a report quotes it."""

    id: str
    text: str
    why: str
    section: str


@dataclass(frozen=True)
class Location:
    """A line of the submission."""

    line: int


@dataclass(frozen=True)
class TestResult:
    """What one hidden test found."""

    __test__ = False  # pytest: a record, not a test class

    id: str
    number: int
    title: str
    points: int
    max_points: int
    rule: RuleText
    outcome: Outcome
    kind: Kind | None = None
    message: str = ""
    given: str = ""
    expected: str = ""
    observed: str = ""
    diff: str = ""
    hint: str = ""
    wrong_answer: WrongAnswer | None = None
    replay: str = ""
    location: Location | None = None
    traceback: tuple[str, ...] = ()
    stdout: str = ""
    duration_s: float = 0.0


@dataclass(frozen=True)
class Report:
    """The verdict on one submission."""

    lesson: LessonName
    submission: SubmissionName
    grader: GraderInfo
    verdict: Verdict
    score: Score
    started_at: str
    duration_s: float
    tests: tuple[TestResult, ...]
    problem: Problem | None = None
    notes: tuple[str, ...] = ()
    schema_version: int = field(default=SCHEMA_VERSION)


def report_from_json(data: Any) -> Report:
    """The report that `to_json` was given.

    Raises:
        ValueError: a field is missing, unknown or of another type, or the schema version is not ours.
    """
    if not isinstance(data, dict) or data.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"not a report of schema version {SCHEMA_VERSION}")
    report: Report = from_json(Report, data)
    return report
