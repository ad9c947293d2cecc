"""From what was found to a `Report`: outcomes, points, the verdict, and texts that are safe to show."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader import __version__, spelling
from grader.records import (
    GraderInfo,
    LessonName,
    Limits,
    Location,
    Problem,
    Report,
    RuleText,
    SceneFault,
    Score,
    SubmissionName,
    TestResult,
    from_json,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.lessons import Lesson
    from grader.records import Outcome, ProblemKind, Submission, TestCase, Verdict, WrongAnswer
    from grader.rooms import Rooms

_MAX_TEXT = 20_000  # characters kept of one text
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PROBLEMS: dict[str, tuple[ProblemKind, str, str]] = {
    "timeout": (
        "load_timeout",
        "While the file was imported, {}.",
        "Something at the top level of the file waits or loops. Look for code outside any function.",
    ),
    "memory": (
        "load_crash",
        "While the file was imported, {}.",
        "Something at the top level of the file grows without end.",
    ),
    "": (
        "load_crash",
        "While the file was imported, {}.",
        "Something at the top level of the file ends the program, such as os._exit().",
    ),
}
OURS = "The grader failed here, not your file; nothing is held against you. {}"
_NOT_INSIDE = (
    "None of your lines was running when this was raised. Compare the call that is shown with the"
    " parameters in your `def`."
)
_HURRIED = (
    "Several tests used up their time, so the rest were given {:g} s each instead of {:g}: "
    "a slow computer may be the cause. Run one alone with --test to give it the full time."
)


@dataclass
class Findings:
    """What is known so far. A grading that is cut short reports what is in here."""

    problem: Problem | None = None
    lines: dict[str, int] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    cut_short: str = ""  # why the rest was not run: the submission's doing
    fault: str = ""  # why the rest has no verdict: ours
    hurried: bool = False
    python: str | None = None


def report(
    findings: Findings,
    *,
    lesson: Lesson,
    tests: tuple[TestCase, ...],
    submission: Submission,
    rooms: Rooms,
    limits: Limits,
    seed: int,
    started_at: str,
    duration_s: float,
) -> Report:
    """Put a report together. Times in seconds."""
    results = tuple(_result(test, findings, lesson, submission.text) for test in tests)
    return Report(
        lesson=LessonName(lesson.number, lesson.title),
        submission=SubmissionName(
            clean(submission.name), submission.sha256 or None, submission.size or None
        ),
        grader=GraderInfo(
            version=__version__,
            tests_sha256=lesson.sha256,
            image=rooms.image,
            runner=rooms.name,
            python=findings.python or None,
            seed=seed,
            limits=limits,
        ),
        verdict=_verdict(findings, results),
        score=Score(sum(r.points for r in results), sum(r.max_points for r in results)),
        started_at=started_at,
        duration_s=round(duration_s, 3),
        tests=results,
        problem=findings.problem,
        notes=_notes(findings, limits),
    )


def problem_of(answer: dict[str, Any]) -> Problem:
    """Why the submission can't be imported, from the stage's answer to {"op": "load"}."""
    if "problem" in answer:
        problem: Problem = from_json(Problem, answer["problem"])
        return Problem(problem.kind, clean(problem.message), problem.line, clean(problem.help))
    fault: SceneFault = from_json(SceneFault, answer["fault"])
    kind, message, advice = _PROBLEMS.get(fault.kind, _PROBLEMS[""])
    return Problem(kind, clean(message.format(fault.message)), fault.line, advice)


def clean(text: str) -> str:
    """A text that can be encoded and repeated: no lone surrogates, no addresses of objects."""
    if len(text) > _MAX_TEXT:
        text = f"{text[:_MAX_TEXT]}\n… ({len(text)} characters in all)"
    text = _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return _ADDRESS.sub("0x…", text)


def _verdict(findings: Findings, results: tuple[TestResult, ...]) -> Verdict:
    outcomes = {result.outcome for result in results}
    if findings.problem is not None or findings.cut_short or "fail" in outcomes:
        return "fail"
    if findings.fault or "error" in outcomes:
        return "error"
    return "pass" if outcomes == {"pass"} else "error"


def _notes(findings: Findings, limits: Limits) -> tuple[str, ...]:
    notes = [findings.cut_short] if findings.cut_short else []
    if findings.fault:
        notes.append(OURS.format(findings.fault))
    if findings.hurried:
        notes.append(_HURRIED.format(limits.hurried_wall_s, limits.scene_wall_s))
    return tuple(clean(note) for note in notes)


def _result(test: TestCase, findings: Findings, lesson: Lesson, text: str) -> TestResult:
    raw = findings.results.get(test.id)
    if raw is None:
        return _without_result(test, findings)
    if raw["outcome"] == "error":
        message = OURS.format(raw.get("error", ""))
        return _bare(test, "error", message, duration_s=raw["duration_s"])
    if raw["outcome"] == "pass":
        return _bare(test, "pass", "", stdout=raw.get("stdout", ""), duration_s=raw["duration_s"])
    failure = raw["failure"]
    line, traceback = failure["line"], failure["traceback"]
    if failure["kind"] == "exception" and not traceback:
        failure |= {"hint": _NOT_INSIDE}
    if line is None and not traceback:
        about = failure["name"] or failure["about"] or test.rule.function
        name, line = _place_of(about, findings.lines)
        traceback = [f"{name} begins at line {line}"] if name else []
    if failure["name"]:
        at = _named(failure, lesson, text)
        line, traceback = (line, traceback) if at is None else (at, [])
    texts = {
        key: clean(failure[key])
        for key in ("message", "given", "expected", "observed", "diff", "replay")
    }
    return _bare(
        test,
        "fail",
        texts.pop("message"),
        kind=failure["kind"],
        hint=failure["hint"],
        wrong_answer=_wrong_answer(test, failure["wrong_answer"]),
        location=None if line is None else Location(line),
        traceback=tuple(map(clean, traceback)),
        stdout=raw.get("stdout", ""),
        duration_s=raw["duration_s"],
        **texts,
    )


def _without_result(test: TestCase, findings: Findings) -> TestResult:
    """A test that never answered is never a pass."""
    if findings.problem is not None:
        return _bare(test, "not_run", "Not run: the file could not be loaded.")
    if findings.cut_short:
        return _bare(test, "not_run", f"Not run: {findings.cut_short}")
    return _bare(test, "error", OURS.format(findings.fault or "The test gave no result."))


def _bare(
    test: TestCase,
    outcome: Outcome,
    message: str,
    *,
    stdout: str = "",
    duration_s: float = 0.0,
    **fields: Any,
) -> TestResult:
    rule = test.rule
    return TestResult(
        id=test.id,
        number=test.number,
        title=test.title,
        points=test.points if outcome == "pass" else 0,
        max_points=test.points,
        rule=RuleText(rule.id, rule.text, rule.why, rule.section),
        outcome=outcome,
        message=clean(message),
        stdout=clean(stdout),
        duration_s=round(duration_s, 3),
        **fields,
    )


def _wrong_answer(test: TestCase, name: str) -> WrongAnswer | None:
    return next((wrong for wrong in test.rule.wrong_answers if wrong.id == name), None)


def _where_asked_for(name: str, names: Mapping[str, str]) -> str:
    """Where the page asks for a name; for a method, where it asks for its class."""
    while name and name not in names:
        name = name.rpartition(".")[0]
    return names.get(name, "")


def _named(failure: dict[str, Any], lesson: Lesson, text: str) -> int | None:
    """Say of a failure for want of a name where the page asks for it, or what may have been meant by it.

    Returns:
        Where what may have been meant begins, if it is the page that asks.
    """
    name = failure["name"]
    asked_for = _where_asked_for(name, lesson.names)
    like, at = _like(name, lesson, text, among_asked_for=not asked_for)
    if not asked_for:
        if like:
            failure["hint"] = f"harness.py has {like} on line {at}: is that the one?"
        return None
    # Also where the submission stumbled over it itself: it is one cause, whoever asked for the name.
    missing = f"harness.py has no {name}."
    told = f"{missing[:-1]}; it has {like} on line {at}: is that the one?" if like else missing
    message = f"Given {failure['given']}: {told}" if failure["given"] else told
    failure |= {"kind": "missing_name", "message": message, "observed": missing, "hint": asked_for}
    return at if not failure["traceback"] else None


def _like(name: str, lesson: Lesson, text: str, *, among_asked_for: bool) -> tuple[str, int | None]:
    """What the file has that may have been meant by a name that it doesn't have, and the line."""
    here = spelling.defined(text)
    if among_asked_for:  # a name of the student's own: it may be any
        like = spelling.meant(name, here, ())
        return like, here.get(like)
    starter = lesson.starter
    given = "" if starter is None else starter.read_text(encoding="utf-8", errors="replace")
    like = spelling.meant(name, here, {*lesson.names, *spelling.defined(given)})
    return like, here.get(like)


def _place_of(function: str, lines: dict[str, int]) -> tuple[str, int | None]:
    """A function and where it begins; for a method that isn't there, its class."""
    while function:
        if function in lines:
            return function, lines[function]
        function = function.rpartition(".")[0]
    return "", None
