"""What a bundle does where it is unpacked: finds the submission, grades it, leaves results.json.

Runs in the platform's container, as root, with nothing but Python; see run_autograder.
"""

from __future__ import annotations

import dataclasses
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader import grading, lessons
from grader.bundle import sealing
from grader.cohort import choosing, entries
from grader.cohort.people import HandIn
from grader.errors import LabCheckError, UsageError
from grader.output import write_whole
from grader.records import Limits, Problem
from grader.render import gradescope
from grader.render.escaping import visible
from grader.submission import from_bytes

if TYPE_CHECKING:
    from grader.records import Report, Submission

HOME = Path("/autograder")
_OWN = Path(__file__).resolve().parents[2]
_HELP = "Hand in one file called harness.py."
_OURS = (
    "The autograder failed, not your file. Nothing is held against you, and an earlier score stands.\n"
    "Please tell your instructor what it said:\n\n{}"
)
_WORTHLESS = b"pass\n"  # fails every test: that it does shows that tests are run


def run(home: Path = HOME) -> int:
    """Grade what is in `home`/submission; gives the exit status: 0, or 3 where there is no verdict."""
    try:
        _sealed(home)
        report = graded(home / "submission")
        text, status = gradescope.render(report), 3 if report.verdict == "error" else 0
        _say(f"{report.verdict}, {report.score.points}/{report.score.max_points}")
    except Exception as exc:  # noqa: BLE001 - whatever it is, it is ours, and has to be told
        text, status = _without_verdict(_told(exc)), 3
        _say(_told(exc))
    write_whole(home / "results" / "results.json", text)
    return status


def check(home: Path = HOME) -> int:
    """Whether this container will do: seals tried out, and one worthless file graded.

    Run when the image is built, so that an instructor sees a fault before any student does.
    """
    try:
        _sealed(home)
        report = _grade(from_bytes(_WORTHLESS))
    except Exception as exc:  # noqa: BLE001 - as above
        _say(_told(exc))
        return 1
    if report.verdict != "fail" or report.problem is not None:
        _say(f"This container can't grade. {' '.join(report.notes)}")
        return 1
    _say(f"ready to grade lesson {report.lesson.number}")
    return 0


def graded(folder: Path) -> Report:
    """The report on what was handed in: one harness, or the reason why there is none.

    Raises:
        LabCheckError: our own files are not as they should be, or there is no such folder.
    """
    problem = None
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.")
    try:
        found = entries.from_folder(folder, entries.SourceLimits())
        handin = HandIn((), tuple((entry.parts, entry) for entry in found.entries))
        tries = choosing.attempts(handin)
        path = tries[0].path
        if len(tries) > 1:
            names = ", ".join(attempt.name for attempt in tries[:5])
            problem = Problem("not_a_file", f"Several files could be it: {names}.", None, _HELP)
        elif path is None:
            problem = Problem("not_a_file", tries[0].problem, None, tries[0].help)
    except UsageError as exc:  # too many files
        problem = Problem("not_a_file", exc.message, None, _HELP)
    if problem is None and path is not None:
        return _grade(path)
    return dataclasses.replace(_grade(io.BytesIO()), problem=problem)


def _grade(submitted: Path | io.BytesIO | Submission) -> Report:
    settings = json.loads((_OWN / "settings.json").read_text(encoding="utf-8"))
    return grading.grade(
        submitted,
        lessons.find(settings["lesson"]),
        seed=settings["seed"],
        limits=Limits(total_s=settings["total_s"]),
    )


def _sealed(home: Path) -> None:
    """Try out the seals.

    Raises:
        UsageError: a submission could not be kept apart.
    """
    tests = [path for path in (_OWN / "hidden_tests").rglob("*") if path.is_file()]
    flaw = sealing.flaw([_OWN, *tests, home / "submission_metadata.json"], home / "results")
    if flaw:
        raise UsageError(f"This container can't keep a submission from the tests. {flaw}")


def _say(text: str) -> None:
    """For the instructor, who sees what an autograder prints."""
    sys.stdout.write(f"lab_check: {visible(text)}\n")


def _told(exc: Exception) -> str:
    if isinstance(exc, LabCheckError):
        return f"{exc.message} {exc.help}".strip()
    return f"{type(exc).__name__}: {exc}"


def _without_verdict(message: str) -> str:
    """results.json without a score: the platform keeps the one that it has."""
    told = {
        "output": _OURS.format(message),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
    }
    return json.dumps(told, indent=2) + "\n"
