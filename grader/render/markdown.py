"""The report as Markdown: for a job's summary, a comment on a merge request, or feedback to paste.

Sentences of ours are escaped; whatever quotes the submission stands in a fence that is longer than any
run of backticks in it, where no Markdown, HTML, mention or link is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.render.causes import groups
from grader.render.details import cause, details, heading, short, standing, title
from grader.render.escaping import clip, fit, one_line, visible
from grader.render.text import LEGEND, THE_SAME

if TYPE_CHECKING:
    from grader.records import Report, TestResult
    from grader.render.details import Cause, Detail

LIMIT = (
    1_000_000  # bytes; GitHub and GitLab both take a comment or summary of no more than a megabyte
)
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$&]|(?<=:)/|(?<=www)\.)", re.IGNORECASE)
_SPAN = re.compile("`([^`\n]+)`")
_BACKTICKS = re.compile("`+")
_MARKS = {"pass": "✅", "fail": "❌", "error": "⚠️", "not_run": "⬜"}
_WORDS = {"pass": "passed", "fail": "failed", "error": "no verdict", "not_run": "not run"}


def render(report: Report) -> str:
    """The score, what did not pass in full, and a table of all tests."""
    return fitting(report, LIMIT)


def fitting(report: Report, limit: int) -> str:
    """The fullest Markdown of at most `limit` bytes."""
    return fit(lambda size: _document(report, size), limit)


def escape(text: str) -> str:
    """`text` on one line, in which Markdown sees nothing but text."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def prose(text: str) -> str:
    """A sentence of ours: `escape`, but what it has between backticks stays a code span."""
    parts = _SPAN.split(one_line(text))  # every other part is one
    return "".join(
        f"`{part}`" if at % 2 else _SPECIAL.sub(r"\\\1", part) for at, part in enumerate(parts)
    )


def fence(text: str, language: str = "text") -> str:
    """`text` in a code block that it can't end."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _document(report: Report, size: int) -> str:
    blocks = [f"## {escape(title(report))}", f"**{escape(standing(report))}**", _about(report)]
    reason = cause(report)
    if reason is not None:
        blocks += _cause(reason, size or 1_000)
    for note in _notes(report, reason):
        blocks.append(f"> **Note:** {prose(clip(note, size or 1_000))}")
    if report.problem is None:
        for group in groups(report.tests):
            blocks += _group(group, size)
        blocks.append(_table(report))
    return "\n\n".join(blocks) + "\n"


def _about(report: Report) -> str:
    grader = report.grader
    facts = [short(report.submission.name), short(report.started_at), f"seed {grader.seed}"]
    facts.append(f"lab_check {short(grader.version)}, {short(grader.runner)}")
    return " · ".join(escape(fact) for fact in facts)


def _cause(reason: Cause, size: int) -> list[str]:
    head = f"### {'No verdict' if reason.ours else escape(reason.kind.replace('_', ' '))}"
    line = "" if reason.line is None else f" (line {reason.line})"
    blocks = [head + line, fence(visible(clip(reason.message, size)))]
    return [*blocks, f"**look at:** {prose(clip(reason.help, size))}"] if reason.help else blocks


def _notes(report: Report, reason: Cause | None) -> list[str]:
    said = "" if reason is None else reason.message
    return [note for note in report.notes if note and note not in said]


def _group(tests: list[TestResult], size: int) -> list[str]:
    first = tests[0]
    mark, word = _MARKS[first.outcome], _WORDS[first.outcome]
    if len(tests) == 1:
        blocks = [f"### {mark} {first.number}. {escape(heading(first))}"]
    else:
        rows = (f"- **{test.number}.** {escape(heading(test))}" for test in tests)
        blocks = [f"### {mark} {len(tests)} tests: {word}, for one reason", "\n".join(rows)]
        if first.outcome == "fail":
            blocks.append(
                prose(
                    f"Told here for {first.number}. In the others: {THE_SAME[:1].lower()}{THE_SAME[1:]}"
                )
            )
    if size == 0:
        return [*blocks, f"({word}; too long to be told here)"]
    found = details(first, alone=len(tests) == 1)
    return [*blocks, *(_detail(detail, size) for detail in found)]


def _detail(detail: Detail, size: int) -> str:
    text = visible(clip(detail.text, size)).strip("\n")
    if detail.shape == "prose":
        return f"**{detail.label}:** {prose(text)}"
    language = {"diff": "diff", "code": "python"}.get(detail.shape, "text")
    legend = f" {LEGEND}" if detail.shape == "diff" else ""
    return f"**{detail.label}:**{legend}\n\n{fence(text, language)}"


def _table(report: Report) -> str:
    rows = ["| # | test | result | points |", "| ---: | --- | --- | ---: |"]
    return "\n".join(rows + [_row(test) for test in report.tests])


def _row(test: TestResult) -> str:
    result = f"{_MARKS[test.outcome]} {_WORDS[test.outcome]}"
    return (
        f"| {test.number} | {escape(short(test.id))} | {result} | {test.points}/{test.max_points} |"
    )
