"""The text report with more in it, or less: what `--explain`, `-v` and `-q` ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.render.escaping import visible
from grader.render.text import _Text, where

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.records import Report, Rule, TestResult


def render(
    report: Report,
    *,
    colour: bool = False,
    explain: Mapping[str, Rule] | None = None,
    verbosity: int = 0,
) -> str:
    """The report as text that ends in a newline.

    Args:
        report: what to tell.
        colour: whether to use ANSI colours; only for terminals.
        explain: the lesson's rules by id, to be told in full under each failure; None: as usual.
        verbosity: below 0, a line a failure and the score; above 0, also what passed, in words, and
            with what the verdict was reached.
    """
    return _Fuller(report, colour=colour, explain=explain, verbosity=verbosity).whole()


class _Fuller(_Text):
    def __init__(
        self,
        report: Report,
        *,
        colour: bool,
        explain: Mapping[str, Rule] | None,
        verbosity: int,
    ) -> None:
        super().__init__(report, colour=colour)
        self._explain = explain
        self._verbosity = verbosity

    def whole(self) -> str:
        if self._verbosity < 0:
            return "".join(line + "\n" for line in self._short())
        text = super().whole()
        return text + "".join(line + "\n" for line in self._reached()) if self._verbosity else text

    def _short(self) -> Iterable[str]:
        if self._report.problem is not None:
            yield from self._block(self._report.problem.message, "")
        else:
            for test in self._report.tests:
                if test.outcome in ("fail", "error"):
                    word = "FAILED" if test.outcome == "fail" else "NO VERDICT"
                    yield self._paint("bad", f"{word} {test.number:>3}  {visible(test.id)}")
            left = sum(test.outcome == "not_run" for test in self._report.tests)
            if left:
                yield f"not run: {left}"
        yield self._score()

    def _passed(self) -> Iterable[str]:
        if self._verbosity <= 0:
            yield from super()._passed()
            return
        passed = [test for test in self._report.tests if test.outcome == "pass"]
        for test in passed:
            head = f" {test.number:>3}  {visible(test.id)}  ({test.duration_s:.2f} s)"
            yield self._paint("good", "  ok") + head
            yield from (self._paint("faint", line) for line in self._wrapped(test.title, " " * 9))
        if passed:
            yield ""

    def _group(self, tests: list[TestResult]) -> Iterable[str]:
        yield from super()._group(tests)
        if self._explain is None or tests[0].outcome != "fail":
            return
        yield from self._others_said(self._explain.get(tests[0].rule.id))
        known = {tests[0].rule.id}  # told above
        for test in tests[1:]:
            if test.rule.id not in known:
                known.add(test.rule.id)
                yield ""
                yield from self._field("rule", f"{test.rule.text} ({where(test)})")
                yield from self._field("why", test.rule.why)
                yield from self._others_said(self._explain.get(test.rule.id))
        yield ""

    def _others_said(self, rule: Rule | None) -> Iterable[str]:
        label = "others said"
        for wrong in rule.wrong_answers if rule is not None else ():
            yield from self._field(label, f"{wrong.id}: {wrong.text}")
            label = ""

    def _reached(self) -> Iterable[str]:
        grader = self._report.grader
        yield ""
        yield from self._field("took", f"{self._report.duration_s:.2f} s")
        yield from self._field(
            "runner", grader.runner + (f", {grader.image}" if grader.image else "")
        )
        yield from self._field("python", grader.python or "")
        yield from self._field("seed", str(grader.seed))
        yield from self._field("lab_check", f"{grader.version}, tests {grader.tests_sha256[:12]}")
