"""What there is to tell about a report and its tests, in order, before any format dresses it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from grader.render.causes import happened
from grader.render.escaping import clip, one_line, visible
from grader.render.text import LEGEND, code_label, own_code, where

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.records import Report, TestResult

Shape = Literal[
    "prose", "data", "code", "diff"
]  # ours · quoted · lines of Python · lines marked - + ?
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_NAME = 300  # characters of a name or a title, which are ours and short


@dataclass(frozen=True)
class Detail:
    """One labelled text about a test."""

    label: str
    text: str
    shape: Shape = "data"


@dataclass(frozen=True)
class Cause:
    """Why a report has no pass though no test says so. `ours`: the grader failed, not the file."""

    name: str
    kind: str
    message: str
    help: str = ""
    line: int | None = None
    ours: bool = False


def title(report: Report) -> str:
    """The lesson, by number and title."""
    return f"Lesson {report.lesson.number}: {short(report.lesson.title)}"


def standing(report: Report) -> str:
    """The score and the verdict in a few words."""
    points = f"{report.score.points} of {report.score.max_points} points"
    if report.verdict == "error":
        return f"{points} - no verdict: the grader failed, not your file"
    return f"{points} - {'passed' if report.verdict == 'pass' else 'not passed'}"


def short(text: str) -> str:
    """A name or title on one line, of bounded length."""
    return clip(one_line(text), _NAME).replace("\n", " ")


def heading(test: TestResult) -> str:
    """A test's id and title."""
    return f"{short(test.id)}: {short(test.title)}"


def moment(report: Report) -> str:
    """When the grading began, in whole seconds, without the Z; in UTC."""
    match = _MOMENT.match(report.started_at)
    return match[0] if match else "1970-01-01T00:00:00"


def cause(report: Report) -> Cause | None:
    """What stopped the whole file or the whole run, where no test carries the verdict itself."""
    problem = report.problem
    if problem is not None:
        return Cause("load", problem.kind, problem.message, problem.help, problem.line)
    outcomes = {test.outcome for test in report.tests}
    notes = "\n".join(report.notes)
    if report.verdict == "fail" and "fail" not in outcomes:
        return Cause("run", "cut_short", notes or "The run was cut short.")
    if report.verdict == "error" and "error" not in outcomes:
        return Cause("grader", "error", notes or "The grader failed, not your file.", ours=True)
    return None


def details(test: TestResult, *, alone: bool = True) -> list[Detail]:
    """What to tell about a test that did not pass, the most useful first; empty texts are left out.

    Args:
        test: the test, or the first of several that failed for one reason.
        alone: whether it is the only one; a name that several missed is told without what one was given.
    """
    if test.outcome == "pass":
        return []
    if test.outcome != "fail":
        return [Detail("happened", test.message)]
    found = [Detail("rule", f"{test.rule.text} ({where(test)})", "prose")]
    if alone or test.kind != "missing_name":
        found.append(Detail("given", test.given))
    found += [Detail("happened", happened(test)), *_difference(test)]
    if test.wrong_answer is not None:
        idea = f"{test.wrong_answer.id}: {test.wrong_answer.text}"
        found.append(Detail("looks like", idea, "prose"))
    else:
        found.append(Detail("look at", test.hint, "prose"))
    found.append(Detail("why", test.rule.why, "prose"))
    found.append(Detail(code_label(test), own_code(test)))
    if test.kind != "missing_name":
        found.append(Detail("see it happen", test.replay, "code"))
    found.append(Detail("printed", test.stdout))
    return [detail for detail in found if detail.text.strip()]


def as_text(found: Iterable[Detail], size: int) -> str:
    """Details as plain text; each cut to `size` characters, with nothing hidden left in it."""
    blocks = []
    found = list(found)
    if [detail.label for detail in found] == [
        "happened"
    ]:  # needs no label where it is all there is
        return visible(clip(found[0].text, size))
    for detail in found:
        text = visible(clip(detail.text, size)).strip("\n")
        if "\n" in text or detail.shape in ("code", "diff"):
            text = "\n" + "\n".join("    " + line for line in text.split("\n"))
        else:
            text = " " + text
        label = f"compared ({LEGEND})" if detail.shape == "diff" else detail.label
        blocks.append(f"{label}:{text}")
    return "\n".join(blocks)


def _difference(test: TestResult) -> list[Detail]:
    if test.diff.strip():
        return [Detail("compared", test.diff, "diff")]
    if test.kind != "rule":
        return []
    return [Detail("expected", test.expected), Detail("observed", test.observed)]
