"""The report as a person reads it: at 80 columns, what passed first, then each failure in full."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from grader.render.causes import groups, happened, has_shapes
from grader.render.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.records import Report, TestResult

WIDTH = 80
_LABEL = 12  # columns for "expected" and its like
_COLOURS = {"good": "32", "bad": "31", "strong": "1", "faint": "2", "ours": "33"}
_STDOUT_LINES = 12
_PRINTED = 120  # characters of a line that is anybody's; a line of JSON has no end
_FRAME = re.compile(r"harness\.py:\d+ in ")
_RAISED = re.compile(r"\bit (?:raised|called) (.+)")
_MARKS = {"-": "good", "+": "bad", "?": "strong"}
_UNMARKED, _MISSING, _TOO_MUCH = "unmarked: as it should be", "- missing", "+ should not be there"
LEGEND = f"{_UNMARKED}; {_MISSING}; {_TOO_MUCH}"
SHAPES = "U A[c1] R(c1) A(error): a user, a reply calling c1, c1's result, a failed reply."
THE_SAME = "The same thing; not checked beyond that. Fix it and run again."


def render(report: Report, *, colour: bool = False) -> str:
    """The report as text that ends in a newline.

    Args:
        report: what to tell.
        colour: whether to use ANSI colours; only for terminals.
    """
    return _Text(report, colour=colour).whole()


class _Text:
    def __init__(self, report: Report, *, colour: bool) -> None:
        self._report = report
        self._colour = colour

    def whole(self) -> str:
        report = self._report
        head = f"Lesson {report.lesson.number}: {report.lesson.title}"
        if report.submission.name:  # a folder such as `.` has none
            head += f" - {report.submission.name}"
        lines = [self._paint("strong", visible(head).replace("\n", " ")), ""]
        for note in report.notes:
            lines += [*self._block("Note: " + note, ""), ""]
        if report.problem is not None:
            lines += self._problem()
        else:
            lines += self._passed()
            found = groups(report.tests)
            if any(group[0].diff for group in found):
                lines += [self._legend(), ""]
            if any(group[0].outcome == "fail" and has_shapes(group[0]) for group in found):
                lines += [SHAPES, ""]
            for group in found:
                lines += self._left(group) if self._is_said(group[0]) else self._group(group)
        lines.append(self._score())
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _problem(self) -> Iterable[str]:
        problem = self._report.problem
        assert problem is not None
        yield self._paint("bad", "No test could be run.")
        yield ""
        yield from self._block(problem.message, "  ")
        if problem.help:
            yield ""
            yield from self._wrapped(problem.help, "  ")
        yield ""

    def _passed(self) -> Iterable[str]:
        passed = [test for test in self._report.tests if test.outcome == "pass"]
        for test in passed:
            yield self._paint("good", "  ok") + f" {test.number:>3}  {visible(test.id)}"
        if passed:
            yield ""

    def _legend(self) -> str:
        marks = [self._paint("good", _MISSING), self._paint("bad", _TOO_MUCH)]
        return f"In the lists below, {'; '.join([_UNMARKED, *marks])}."

    def _group(self, tests: list[TestResult]) -> Iterable[str]:
        first, *others = tests
        colour = "bad" if first.outcome == "fail" else "ours"
        if first.outcome != "fail":
            word = "NOT RUN" if first.outcome == "not_run" else "NO VERDICT"
        else:
            word = "FAILED"
        yield self._paint("faint", "-" * WIDTH)
        yield self._paint(colour, f"{word} {first.number:>3}  {visible(first.id)}")
        yield from (self._paint("faint", line) for line in self._wrapped(first.title, "  "))
        yield from self._others(word, others, colour)
        yield ""
        if first.outcome == "fail":
            yield from self._failure(first, alone=not others)
        else:
            yield from self._wrapped(first.message, "  ")
        yield ""

    def _is_said(self, test: TestResult) -> bool:
        """Whether a note has said already why a test was not run."""
        return test.outcome == "not_run" and any(
            test.message == f"Not run: {note}" for note in self._report.notes
        )

    def _left(self, tests: list[TestResult]) -> Iterable[str]:
        told = ", ".join(f"{test.number}\0{test.id}" for test in tests)  # not to be parted
        for line in textwrap.wrap(f"Not run: {told}", WIDTH, break_on_hyphens=False):
            yield self._paint("faint", visible(line.replace("\0", " ")))
        yield ""

    def _others(self, word: str, tests: list[TestResult], colour: str) -> Iterable[str]:
        """Those that failed for the reason of the one before them, by their names."""
        if not tests:
            return
        first, *rest = tests
        told = "".join(f", {test.number}\0{test.id}" for test in rest)  # not to be parted
        names = f"{word} {first.number:>3}  {first.id}{told}"
        indent = " " * len(f"{word} {first.number:>3}  ")
        for line in textwrap.wrap(names, WIDTH, subsequent_indent=indent, break_on_hyphens=False):
            yield self._paint(colour, visible(line.replace("\0", " ")))
        if tests[0].outcome == "fail":
            yield from (self._paint("faint", line) for line in self._wrapped(THE_SAME, "  "))

    def _failure(self, test: TestResult, *, alone: bool) -> Iterable[str]:
        yield from self._field("rule", f"{test.rule.text} ({where(test)})")
        if alone or test.kind != "missing_name":
            yield from self._field("given", test.given)
        yield from self._field("happened", happened(test))
        yield from self._difference(test)
        if test.wrong_answer is not None:
            idea = f"{test.wrong_answer.id}: {test.wrong_answer.text}"
            yield from self._field("looks like", idea)
        else:
            yield from self._field("look at", test.hint)
        yield from self._own_code(test)
        yield from self._field("why", test.rule.why)
        if test.replay and test.kind != "missing_name":
            yield "  see it happen, in the folder of your harness.py:"
            yield ""
            lines = visible(test.replay).rstrip().split("\n")
            yield from (self._paint("faint", f"      {line}".rstrip()) for line in lines)

    def _difference(self, test: TestResult) -> Iterable[str]:
        if test.diff:
            yield from self._diff(test.diff)
        elif test.kind == "rule":
            yield from self._field("expected", test.expected)
            yield from self._field("observed", test.observed)

    def _own_code(self, test: TestResult) -> Iterable[str]:
        yield from self._field(code_label(test), own_code(test))
        if test.stdout.strip():
            yield from self._field("printed", _few_lines(test.stdout))

    def _diff(self, diff: str) -> Iterable[str]:
        """Its lines with their marks, the first of them beside the label."""
        lead = f"  {'compared':<{_LABEL}}"
        for line in visible(diff).split("\n"):
            colour = _MARKS.get(line[:1], "")
            pieces = _pieces(line[2:], WIDTH - len(lead) - 2)
            mark = line[:1] if line[:1] in _MARKS else " "
            yield lead + self._paint(colour, f"{mark} {pieces[0]}".rstrip())
            lead = " " * len(lead)
            yield from (lead + self._paint(colour, f"    {piece}") for piece in pieces[1:])

    def _field(self, label: str, text: str) -> Iterable[str]:
        """A label and a text beside it, wrapped; a text of several lines keeps them."""
        if not text.strip():
            return
        lead = f"  {label:<{_LABEL}}"
        for line in self._block(text, " " * len(lead)):
            yield lead + line[len(lead) :]
            lead = " " * len(lead)

    def _block(self, text: str, indent: str) -> Iterable[str]:
        for line in visible(text).rstrip("\n").split("\n"):
            yield from self._wrapped(line, indent) or [indent]

    def _wrapped(self, text: str, indent: str = "") -> list[str]:
        return textwrap.wrap(
            visible(text),
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
            replace_whitespace=True,
        )

    def _score(self) -> str:
        score, verdict = self._report.score, self._report.verdict
        if verdict == "error":
            told = "no verdict: the grader failed, not your file"
            return self._paint("ours", f"{score.points} of {score.max_points} points - {told}")
        word = "passed" if verdict == "pass" else "not passed"
        text = f"{score.points} of {score.max_points} points - {word}"
        return self._paint("good" if verdict == "pass" else "bad", text)

    def _paint(self, colour: str, text: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._colour and colour else text


def where(test: TestResult) -> str:
    """Where the lesson argues a test's rule."""
    section = test.rule.section
    return (
        f"Lesson page, section {section}" if '"' in section else f'Lesson page, section "{section}"'
    )


def code_label(test: TestResult) -> str:
    """What to call the student's own lines: a traceback is one where an exception came out of them."""
    return "traceback" if _came_out(test) else "your code"


def own_code(test: TestResult) -> str:
    """The student's own lines that a failure is about; below a traceback, what was raised."""
    if test.traceback:
        raised = _RAISED.search(test.observed) if _came_out(test) else None
        lines = [*test.traceback, raised[1]] if raised else test.traceback
        return "\n".join(map(_cut, lines))
    return "" if test.location is None else f"harness.py, from line {test.location.line}"


def _came_out(test: TestResult) -> bool:
    """Whether a failure is an exception with lines of the student's on its way."""
    return test.kind == "exception" and any(map(_FRAME.match, test.traceback))


def _cut(line: str) -> str:
    return line if len(line) <= _PRINTED else line[:_PRINTED] + "…"


def _few_lines(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    kept = list(map(_cut, lines))
    if len(kept) <= _STDOUT_LINES:
        return "\n".join(kept)
    return "\n".join([*kept[:_STDOUT_LINES], f"… and {len(lines) - _STDOUT_LINES} lines more"])


def _pieces(text: str, width: int) -> list[str]:
    wrapper = textwrap.TextWrapper(width, drop_whitespace=False, break_on_hyphens=False)
    return wrapper.wrap(text) or [""]
