"""What the tests of cohorts share: the small lesson, and gradings that cost nothing."""

from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import grading, lessons, reporting
from grader.batch import BatchResult, grade_cohort
from grader.records import Limits, Report, Submission
from grader.reporting import Findings

if TYPE_CHECKING:
    import os

HERE = Path(__file__).parent
LESSON = lessons.load(HERE / "lessons" / "lesson_90")


@dataclasses.dataclass
class NoRooms:
    """Rooms by name; nothing is ever opened."""

    name: str = "pretend"
    image: str | None = None

    def open_stage(self) -> Any:
        raise AssertionError

    def open_judge(self) -> Any:
        raise AssertionError

    def close(self) -> None:
        pass


class Pretend:
    """Stands for `grading.grade`: reads the verdict off the text, counts what it was asked.

    `raises` are exceptions to raise first, one a call; `errors` are numbers of calls that end in an error.
    """

    def __init__(self, pause_s: float = 0.0) -> None:
        self.calls: list[str] = []
        self.raises: list[BaseException] = []
        self.broken: set[str] = set()  # words in a text whose grading ends in an error of ours
        self.cut = ""  # a word in a text whose last test has no result
        self.pause_s = pause_s
        self.twist = ""  # a test whose outcome is turned round: the tests have changed
        self._real = grading.grade
        self._lock = threading.Lock()

    def __call__(self, submitted: Any, lesson: Any, **options: Any) -> Report:
        if not isinstance(submitted, Submission):
            return self._real(submitted, lesson, **options)
        with self._lock:
            self.calls.append(submitted.sha256)
            raised = self.raises.pop() if self.raises else None
        if raised is not None:
            raise raised
        time.sleep(self.pause_s)
        fault = "the engine is gone" if any(w in submitted.text for w in self.broken) else ""
        return self.report(submitted, lesson, fault=fault, **options)

    def report(
        self, submission: Submission, lesson: Any, *, fault: str = "", **options: Any
    ) -> Report:
        text = submission.text
        passes = {
            "doubles": "n + n" in text or "2 * n" in text,
            "doubles_below_zero": "n + n" in text or "2 * n" in text,
            "totals": "sum(numbers)" in text,
            "greets": "hello {name}" in text,
        }
        if self.twist:
            passes[self.twist] = not passes[self.twist]
        seed = options.get("seed")
        findings = Findings(fault=fault, python="3")
        if not fault:
            findings.results = {name: _result(passes[name], text) for name in passes}
            if self.cut and self.cut in text:
                del findings.results["greets"]
                findings.fault = "the judge died"
        return reporting.report(
            findings,
            lesson=lesson,
            tests=lesson.tests,
            submission=submission,
            rooms=options["rooms"],
            limits=options.get("limits") or Limits(),
            seed=grading.seed_of(submission) if seed is None else seed,
            started_at=f"2026-11-30T00:00:00.{len(self.calls):06}Z",
            duration_s=0.25,
        )


def _result(passed: bool, text: str) -> dict[str, Any]:
    if passed:
        return {"outcome": "pass", "stdout": "", "duration_s": 0.01}
    failure = dict.fromkeys(
        ("given", "expected", "observed", "diff", "replay", "hint", "about", "name"), ""
    )
    wrong = "squares" if "n * n" in text else ""
    told = {"kind": "rule", "message": "another <b>number</b>", "line": 4, "traceback": []}
    return {
        "outcome": "fail",
        "stdout": "",
        "duration_s": 0.02,
        "failure": {**failure, **told, "wrong_answer": wrong},
    }


def batch(sources: Any, out: str | os.PathLike[str], **options: Any) -> BatchResult:
    """A batch of the small lesson."""
    listed = sources if isinstance(sources, list) else [sources]
    options = {"rooms": NoRooms(), "workers": 2, "retries": 0, **options}
    return grade_cohort(listed, options.pop("lesson", LESSON), out, **options)
