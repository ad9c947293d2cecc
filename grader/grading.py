"""grade(): one submission in, one Report out. The whole flow, on one screen."""

from __future__ import annotations

import os
import time
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import gaps, lessons, reporting
from grader import submission as submissions
from grader.errors import RoomError, SubmissionError, UsageError, WireError
from grader.judging import Judge
from grader.records import Limits, Problem, Report, Submission
from grader.reporting import Findings
from grader.staging import Stage, TimeUpError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from grader.lessons import Lesson
    from grader.records import TestCase
    from grader.rooms import Rooms

    OnResult = Callable[[str, str], None]

DEFAULT_SEED = 7


class BreakOffError(Exception):
    """Raised by `on_result`: no more tests are wanted. Its text says why, for the report."""


def grade(
    submitted: str | os.PathLike[str] | BinaryIO | Submission,
    lesson: int | Lesson,
    *,
    rooms: Rooms | None = None,
    seed: int | None = DEFAULT_SEED,
    limits: Limits | None = None,
    tests: Sequence[str] = (),
    judge: Judge | None = None,
    on_result: OnResult | None = None,
) -> Report:
    """Grade one submission.

    Args:
        submitted: a path, an open binary stream, or a submission that has been read already.
        lesson: its number, or one from `lessons.find`.
        rooms: where to play and judge; plain processes by default.
        seed: what the values of the tests are drawn from; None: from the submission's hash.
        limits: what it may use; times in seconds, sizes in bytes.
        tests: ids, if not all of them are wanted.
        judge: one of this lesson, to be used again afterwards; by default one is opened and ended here.
        on_result: told each test's id and outcome as soon as they are known. After a test has failed it
            may raise BreakOffError: the rest is then not run.

    Raises:
        UsageError: no such lesson or test.
        LessonError: the lesson's folder is broken.
    """
    began, clock = datetime.now(UTC), time.monotonic()
    lesson = lesson if isinstance(lesson, lessons.Lesson) else lessons.find(lesson)
    wanted = _wanted(lesson, tests)
    rooms, limits = rooms or _process_rooms(), limits or Limits()
    findings = Findings()
    try:
        submission = _read(submitted, limits)
    except SubmissionError as exc:
        findings.problem = Problem(exc.kind, exc.message, exc.line, exc.help)
        submission = Submission(_name_of(submitted), "", "", 0)
    else:
        seed = seed_of(submission) if seed is None else seed
        own = closing(Judge(rooms, lesson, limits)) if judge is None else nullcontext(judge)
        with closing(Stage(rooms, lesson, submission, limits)) as stage, own as judging:
            _play(findings, stage, judging, wanted, seed, on_result)
    report = reporting.report(
        findings,
        lesson=lesson,
        tests=wanted,
        submission=submission,
        rooms=rooms,
        limits=limits,
        seed=DEFAULT_SEED if seed is None else seed,
        started_at=began.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        duration_s=time.monotonic() - clock,
    )
    of_gaps = gaps.notes(lesson, submission.text, failed=report.verdict == "fail")
    return replace(report, notes=(*report.notes, *of_gaps))


def _play(
    findings: Findings,
    stage: Stage,
    judge: Judge,
    wanted: tuple[TestCase, ...],
    seed: int,
    on_result: OnResult | None,
) -> None:
    """Load the submission, then run the tests; whatever happens, `findings` is true afterwards."""
    clock = time.monotonic()

    def found(name: str, result: dict[str, Any]) -> None:
        nonlocal clock
        findings.results[name] = {**result, "duration_s": time.monotonic() - clock}
        if on_result is not None:
            left = len(wanted) - len(findings.results)
            with (
                nullcontext() if left else suppress(BreakOffError)
            ):  # after the last: nothing to stop
                on_result(name, result["outcome"])
        clock = time.monotonic()

    def play(asked: dict[str, Any]) -> dict[str, Any]:
        return stage.do(asked.pop("op"), **asked)

    try:
        stage.start()
        judge.start()
        if _loads(findings, stage):
            clock = time.monotonic()
            judge.run(seed, [test.id for test in wanted], play, found)
    except TimeUpError:
        findings.cut_short = f"The submission's whole time of {stage.total_s:g} s was used up."
    except BreakOffError as exc:
        findings.cut_short = str(exc)
    except (RoomError, WireError) as exc:
        findings.fault = exc.message
        if getattr(exc, "reason", "") == "untrusted":
            findings.results.clear()
    findings.hurried, findings.python = stage.hurried, stage.python


def _loads(findings: Findings, stage: Stage) -> bool:
    """Import the submission once, by itself. False where it can't be: then there is one `problem`."""
    answer = stage.do("load")
    if "lines" in answer:
        findings.lines = answer["lines"]
        return True
    findings.problem = reporting.problem_of(answer)
    return False


def _wanted(lesson: Lesson, tests: Sequence[str]) -> tuple[TestCase, ...]:
    known = [test.id for test in lesson.tests]
    unknown = [name for name in tests if name not in known]
    if unknown:
        raise UsageError(
            f"Lesson {lesson.number} has no test {unknown[0]!r}.",
            help=f"Its tests: {', '.join(known)}.",
        )
    return tuple(test for test in lesson.tests if not tests or test.id in tests)


def _read(submitted: str | os.PathLike[str] | BinaryIO | Submission, limits: Limits) -> Submission:
    if isinstance(submitted, Submission):
        return submitted
    if isinstance(submitted, (str, os.PathLike)):
        return submissions.read(submitted, limits.submission_bytes)
    return submissions.read_stream(submitted, limits.submission_bytes)


def _name_of(submitted: object) -> str:
    """What to call a submission that could not be read."""
    return Path(submitted).name if isinstance(submitted, (str, os.PathLike)) else "harness.py"


def seed_of(submission: Submission) -> int:
    """A seed drawn from a submission's own hash: the same for the same file, not to be foreseen."""
    return int(submission.sha256[:12], 16)


def _process_rooms() -> Rooms:
    from grader.rooms.process import ProcessRooms  # noqa: PLC0415 - only where none was given

    return ProcessRooms()
