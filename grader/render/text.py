"""The report as a person reads it: at 80 columns, what passed first, then each failure in full."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from grader.render.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.records import Report, TestResult

WIDTH = 80
_LABEL = 12  # columns for "expected" and its like
_COLOURS = {"good": "32", "bad": "31", "strong": "1", "faint": "2", "ours": "33"}
_RAISED = re.compile(r"it raised (\w+)")
_STDOUT_LINES = 12


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
        head = f"Lesson {report.lesson.number}: {report.lesson.title} - {report.submission.name}"
        lines = [self._paint("strong", visible(head).replace("\n", " ")), ""]
        if report.problem is not None:
            lines += self._problem()
        else:
            lines += self._passed()
            for group in groups(report.tests):
                lines += self._group(group)
        for note in report.notes:
            lines += [*self._wrapped("Note: " + note), ""]
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

    def _group(self, tests: list[TestResult]) -> Iterable[str]:
        first = tests[0]
        colour = "bad" if first.outcome == "fail" else "ours"
        if first.outcome != "fail":
            word = "not run" if first.outcome == "not_run" else "no verdict"
        else:
            word = "failed"
        yield self._paint("faint", "-" * WIDTH)
        for test in tests:
            title = f"{word.upper()} {test.number:>3}  {visible(test.id)}"
            yield self._paint(colour, title)
            yield from (self._paint("faint", line) for line in self._wrapped(test.title, "  "))
        yield ""
        if first.outcome == "fail":
            yield from self._failure(first, alone=len(tests) == 1)
        else:
            yield from self._wrapped(first.message, "  ")
        yield ""

    def _failure(self, test: TestResult, *, alone: bool) -> Iterable[str]:
        if alone:
            yield from self._field("rule", f"{test.rule.text} ({test.rule.section})")
            yield from self._field("given", test.given)
        else:
            yield from self._field("cause", "All of these failed for one reason, told here once.")
        yield from self._field("happened", _without_given(test))
        yield from self._difference(test)
        yield from self._own_code(test)
        if alone:
            yield from self._field("why", test.rule.why)
        if test.wrong_answer is not None:
            idea = f"{test.wrong_answer.id}: {test.wrong_answer.text}"
            yield from self._field("looks like", idea)
        yield from self._field("look at", test.hint)
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
        if test.traceback:
            yield from self._field("your code", "\n".join(test.traceback))
        elif test.location is not None:
            yield from self._field("your code", f"harness.py, from line {test.location.line}")
        if test.stdout.strip():
            yield from self._field("printed", _few_lines(test.stdout))

    def _diff(self, diff: str) -> Iterable[str]:
        marks = {"-": ("- expected", "good"), "+": ("+ observed", "bad")}
        kinds = [marks[m] for m in marks if any(line.startswith(m) for line in diff.split("\n"))]
        legend = ", ".join(self._paint(colour, text) for text, colour in kinds)
        yield f"  {legend}:"
        for line in visible(diff).split("\n"):
            colour = {"-": "good", "+": "bad", "?": "strong"}.get(line[:1], "")
            pieces = _pieces(line[2:], WIDTH - 8)
            yield self._paint(colour, f"      {line[:1]:1} {pieces[0]}".rstrip())
            yield from (self._paint(colour, f"          {piece}") for piece in pieces[1:])

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


def groups(tests: Iterable[TestResult]) -> list[list[TestResult]]:
    """What did not pass, those with one cause together, in the order of their first."""
    found: dict[object, list[TestResult]] = {}
    for test in tests:
        if test.outcome != "pass":
            found.setdefault(_cause(test), []).append(test)
    return list(found.values())


def _cause(test: TestResult) -> object:
    """Equal for two tests that failed for the same reason: one exception at one line, one name missing."""
    if test.outcome != "fail":
        return (test.outcome, test.message)
    if test.kind == "rule":
        return test.id
    if test.traceback:
        raised = _RAISED.search(test.observed)
        return (test.kind, test.traceback[-1], raised and raised[1])
    return (test.kind, test.observed)


def _without_given(test: TestResult) -> str:
    lead = f"Given {test.given}: "
    return test.message.removeprefix(lead) if test.given else test.message


def _few_lines(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= _STDOUT_LINES:
        return "\n".join(lines)
    return "\n".join([*lines[:_STDOUT_LINES], f"... and {len(lines) - _STDOUT_LINES} lines more"])


def _pieces(text: str, width: int) -> list[str]:
    wrapper = textwrap.TextWrapper(width, drop_whitespace=False, break_on_hyphens=False)
    return wrapper.wrap(text) or [""]
