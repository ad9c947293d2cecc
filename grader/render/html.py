"""The report as one self-contained HTML page: no script, nothing to fetch, failures first."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from grader.render.causes import groups
from grader.render.details import cause, details, short, title
from grader.render.escaping import clip, visible
from grader.render.style import CSS
from grader.render.text import THE_SAME

if TYPE_CHECKING:
    from grader.records import Report, TestResult
    from grader.render.details import Detail

_SPAN = re.compile("`([^`\n]+)`")
_SIZE = 20_000  # characters of one text
_LINES = 16  # that a quoted text may have and stand open
_MARKS = {"pass": "✓", "fail": "✗", "error": "!", "not_run": "○"}
_WORDS = {"pass": "passed", "fail": "failed", "error": "no verdict", "not_run": "not run"}
_HEADS = {"fail": "Not passed", "error": "No verdict", "not_run": "Not run"}
_VERDICTS = {"pass": "passed", "fail": "not passed", "error": "no verdict"}
_SIGNS = {"-": "minus", "+": "plus", "?": "hint"}
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{css}</style>
</head>
<body>
{body}
</body>
</html>
"""


def render(report: Report) -> str:
    """The page. Everything that a report quotes is text in it."""
    body = [_header(report), "<main>", *_reason(report)]
    if report.problem is None:
        body += _groups(report)
        body += _list("Passed", [test for test in report.tests if test.outcome == "pass"])
    else:
        body += _list("Not run", list(report.tests))
    body += ["</main>", _footer(report)]
    name = f"{_VERDICTS[report.verdict]}: {title(report)} - {short(report.submission.name)}"
    return _PAGE.format(title=_text(name), css=CSS, body="\n".join(body))


def _text(text: str, size: int = _SIZE) -> str:
    """A text that HTML reads as text, also inside quotes."""
    return escape(visible(clip(text, size)))


def _prose(text: str) -> str:
    """A sentence of ours, in which what stands between backticks is code."""
    return _SPAN.sub(r"<code>\1</code>", _text(text))


def _header(report: Report) -> str:
    verdict = report.verdict
    points = f"<strong>{report.score.points}</strong> of {report.score.max_points} points"
    lines = [
        "<header>",
        f'<p class="file">{_text(short(report.submission.name))}</p>',
        f"<h1>{_text(title(report))}</h1>",
        f'<p class="score {verdict}">{points} <span class="word">{_VERDICTS[verdict]}</span></p>',
    ]
    if verdict == "error" and not report.notes:
        lines.append("<p>The grader failed, not your file. Nothing is held against you.</p>")
    if report.problem is None:
        lines += ['<nav aria-label="Tests">', *map(_link, report.tests), "</nav>"]
    return "\n".join([*lines, "</header>"])


def _link(test: TestResult) -> str:
    name = f"Test {test.number}, {short(test.id)}: {_WORDS[test.outcome]}"
    shown = f'<span aria-hidden="true">{_MARKS[test.outcome]} {test.number}</span>'
    said = _text(name)
    return f'<a class="{test.outcome}" href="#{_anchor(test)}" title="{said}" aria-label="{said}">{shown}</a>'


def _anchor(test: TestResult) -> str:
    return f"test-{test.number}"


def _reason(report: Report) -> list[str]:
    reason = cause(report)
    lines = []
    if reason is not None:
        place = "" if reason.line is None else f" in line {reason.line}"
        head = "No verdict" if reason.ours else f"{reason.kind.replace('_', ' ')}{place}"
        lines += [f'<section class="reason"><h2>{_text(short(head.capitalize()))}</h2>']
        lines.append(f"<pre>{_text(reason.message)}</pre>")
        lines += [f"<p>{_prose(reason.help)}</p>"] if reason.help else []
        lines.append("</section>")
    said = "" if reason is None else reason.message
    notes = [note for note in report.notes if note and note not in said]
    return lines + [f'<p class="note"><b>Note:</b> {_prose(note)}</p>' for note in notes]


def _groups(report: Report) -> list[str]:
    lines = []
    for outcome, head in _HEADS.items():
        found = [group for group in groups(report.tests) if group[0].outcome == outcome]
        lines += [f"<h2>{head}</h2>", *map(_group, found)] if found else []
    return lines


def _group(tests: list[TestResult]) -> str:
    first = tests[0]
    lines = [
        f'<details open class="test {first.outcome}">',
        f"<summary>{_summary(tests)}</summary>",
    ]
    if len(tests) > 1:
        lines += ["<ul>", *map(_item, tests), "</ul>"]
        if first.outcome == "fail":
            told = f"Told here for test {first.number}. In the others: {THE_SAME[:1].lower()}{THE_SAME[1:]}"
            lines.append(f"<p>{_prose(told)}</p>")
    found = details(first, alone=len(tests) == 1)
    lines += ["<dl>", *map(_detail, found), "</dl>", "</details>"]
    return "\n".join(lines)


def _summary(tests: list[TestResult]) -> str:
    first = tests[0]
    mark = f'<span class="mark">{_MARKS[first.outcome]} {_WORDS[first.outcome]}</span>'
    if len(tests) > 1:
        return f'{mark} <span class="title">{len(tests)} tests, for one reason</span>'
    return f'<span id="{_anchor(first)}">{mark} {_name(first)}</span>'


def _item(test: TestResult) -> str:
    return f'<li id="{_anchor(test)}">{_name(test)}</li>'


def _name(test: TestResult) -> str:
    id_, said = _text(short(test.id)), _text(short(test.title))
    return f'{test.number}. <code>{id_}</code> <span class="title">{said}</span>'


def _detail(detail: Detail) -> str:
    label, shown = detail.label, f"<p>{_prose(detail.text)}</p>"
    if detail.shape == "diff":
        shown = _diff(detail.text)
    elif detail.shape == "code":
        shown = f'<pre class="code">{_text(detail.text)}</pre>'
    elif detail.shape == "data":
        shown = _quoted(detail.text)
    return f"<div><dt>{label}</dt><dd>{shown}</dd></div>"


def _quoted(text: str) -> str:
    """What a submission gave or printed; folded where it is long."""
    pre, lines = f"<pre>{_text(text)}</pre>", text.count("\n")
    if lines <= _LINES:
        return pre
    return f"<details><summary>{lines} lines</summary>{pre}</details>"


def _diff(diff: str) -> str:
    """Lines that tell what they are by their sign, and by their colour only besides."""
    legend = '<p class="legend">unmarked: as it should be; <span class="minus">- missing</span>; '
    legend += '<span class="plus">+ should not be there</span></p>'
    lines = visible(clip(diff, _SIZE)).split("\n")
    spans = (
        f'<span class="{_SIGNS.get(line[:1], "same")}">{escape(line)}\n</span>' for line in lines
    )
    return f'{legend}<pre class="diff">{"".join(spans)}</pre>'


def _list(heading: str, tests: list[TestResult]) -> list[str]:
    if not tests:
        return []
    items = [f"{_MARKS[test.outcome]} {_name(test)}" for test in tests]
    rows = [
        f'<li id="{_anchor(test)}" class="{test.outcome}">{item}</li>'
        for test, item in zip(tests, items, strict=True)
    ]
    return [f"<h2>{heading}</h2>", '<ul class="plain">', *rows, "</ul>"]


def _footer(report: Report) -> str:
    grader, submission = report.grader, report.submission
    facts = {
        "graded": f"{report.started_at}, in {report.duration_s:.2f} s",
        "file": f"{submission.size} bytes, SHA-256 {submission.sha256}",
        "grader": f"lab_check {grader.version}, {grader.runner}, Python {grader.python or '?'}",
        "image": grader.image or "",
        "seed": str(grader.seed),
        "tests": grader.tests_sha256,
    }
    rows = [
        f"<div><dt>{name}</dt><dd>{_text(short(fact))}</dd></div>"
        for name, fact in facts.items()
        if fact
    ]
    return "\n".join(["<footer><dl>", *rows, "</dl></footer>"])
