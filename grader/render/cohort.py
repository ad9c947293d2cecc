"""A cohort as one self-contained page: heat map, rules and misconceptions, scores, like files, reports.

Everything in it that a student chose is text: escaped where it stands in the page, JSON where the script
reads it, and the page allows no script but its own, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Data = Mapping[str, Any]

_HERE = Path(__file__).parent
_DENSE_FROM = 120  # students, from which the map starts out dense
_TEXT = (
    1_500  # characters kept of each text of a report; the whole report is a file beside the page
)
_MARKS = {"pass": ("p", "✓"), "fail": ("f", "✗"), "error": ("e", "!"), "not_run": ("n", "·")}
_TEXTS = ("message", "given", "expected", "observed", "diff", "hint", "replay", "stdout")
_STUDENT = (
    "student",
    "name",
    "status",
    "points",
    "max_points",
    "graded_points",
    "file",
    "attempt",
    "attempts",
    "notes",
    "group",
    "report",
    "overrides",
)


def render(
    cohort: Data, reports: Iterable[tuple[int, Data]], sources: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """The page, piece by piece, so that no more than one report is in memory.

    Args:
        cohort: the content of cohort.json.
        reports: number of a row of `cohort["students"]`, in their order, and its report as plain JSON.
        sources: students whose files are alike, and the files.
    """
    yield from _head(cohort)
    yield from _summary(cohort)
    yield from _map(cohort)
    yield from _rules(cohort)
    yield from _tests(cohort)
    yield from _alike(cohort, sources)
    yield from _decided(cohort)
    yield from _left_out(cohort)
    yield _DIALOG
    yield _data("cohort", _for_script(cohort))
    places = {test["id"]: at for at, test in enumerate(cohort["figures"]["tests"])}
    waiting = iter(reports)
    following = next(waiting, None)
    for number, student in enumerate(cohort["students"]):
        data: dict[str, Any] = {"student": {key: student[key] for key in _STUDENT}, "report": None}
        if following is not None and following[0] == number:
            data["report"] = _short(following[1], places)
            following = next(waiting, None)
        yield _data(f"r{number}", data)
    yield f"<script>{_script()}</script>\n</body>\n</html>\n"


_DIALOG = """<dialog id="report" aria-labelledby="who">
<header><h2 id="who"></h2><button id="previous" title="left arrow">previous</button>
<button id="next" title="right arrow">next</button><button id="close" title="Escape">close</button></header>
<div id="inside"></div>
</dialog>
"""


def _script() -> str:
    return (_HERE / "cohort.js").read_text(encoding="utf-8")


def _data(name: str, value: Any) -> str:
    """Data for the script. No `<` in it, so nothing in it can end the element."""
    text = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def _head(cohort: Data) -> Iterator[str]:
    digest = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    lesson = cohort["lesson"]
    title = escape(f"Lesson {lesson['number']}: {lesson['title']}")
    styles = (_HERE / "cohort.css").read_text(encoding="utf-8")
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{styles}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )
    grader = cohort["grader"]
    told = f"made {cohort['made_at']} by lab_check {grader['version']}, runner {grader['runner']}"
    yield f'<p class="faint">{escape(told)}, tests {escape(grader["tests_sha256"][:12])}</p>\n'
    links = ("students", "rules", "tests", "alike", "overrides")
    yield "<nav>" + "".join(f'<a href="#{name}">{name}</a>' for name in links) + "</nav>\n"


def _summary(cohort: Data) -> Iterator[str]:
    figures = cohort["figures"]
    scores = figures["scores"]
    tiles = [
        ("students", figures["students"]),
        ("passed", figures["passed"]),
        ("not passed", figures["graded"] - figures["passed"]),
        ("no verdict", figures["errors"]),
        ("not graded yet", figures["pending"]),
        ("handed in nothing", figures["missing"]),
        ("median points", "-" if scores["median"] is None else f"{scores['median']:g}"),
        ("median time", f"{figures['duration_median_s']:.1f} s"),
        ("slowest", f"{figures['duration_slowest_s']:.1f} s"),
    ]
    yield '<ul class="tiles">'
    yield from (f"<li><b>{escape(str(value))}</b>{name}</li>" for name, value in tiles)
    yield "</ul>\n"
    if decided := figures["overridden"]:
        yield (
            f'<p>With <a href="#overrides">overrides</a> for {_many(decided, "student")}: they count in who'
            " passed and in the scores. Rules and tests are told as they were graded.</p>\n"
        )
    yield "<h2>Scores</h2>\n"
    most = max(scores["counts"], default=0) or 1
    yield '<div class="bars" role="img" aria-label="How many students have how many points">'
    for points, count in enumerate(scores["counts"]):
        yield (
            f'<div title="{count} with {_many(points, "point")}"><span class="faint">{count or ""}</span>'
            f'<i style="height:{100 * count / most * 0.8:.1f}%"></i>{points}</div>'
        )
    yield "</div>\n"
    if figures["problems"]:
        listed = ", ".join(f"{_words(kind)} {count}" for kind, count in figures["problems"])
        yield f"<p>Files that could not be graded at all: {escape(listed)}.</p>\n"


def _map(cohort: Data) -> Iterator[str]:
    tests, students = cohort["figures"]["tests"], cohort["students"]
    dense = " dense" if len(students) > _DENSE_FROM else ""
    kinds = ("passed", "failed", "error", "missing", "pending", "late", "override", "noted")
    options = "".join(f'<option value="{kind}">{kind}</option>' for kind in kinds)
    missed = "".join(
        f'<option value="{at}">{escape(t["id"])}</option>' for at, t in enumerate(tests, 2)
    )
    yield (
        '<h2 id="students">Students by tests</h2>\n<div class="tools">'
        '<input id="search" type="search" placeholder="search ( / )" aria-label="search a student">'
        f'<select id="filter" aria-label="filter"><option value="">everybody</option>{options}</select>'
        '<select id="missed" aria-label="who failed a test"><option value="">any outcome</option>'
        f'<optgroup label="failed">{missed}</optgroup></select>'
        '<button id="density">denser, wider</button><span id="shown" class="faint"></span>'
        '<span class="faint legend">✓ passed, ✗ failed, ! no verdict, · not run</span>'
        '<span class="faint">click a row for its report</span></div>\n'
        f'<div class="map{dense}" id="map" tabindex="-1"><table>\n<thead><tr>'
        '<th scope="col" data-head="student" aria-sort="ascending"><button>student</button></th>'
        '<th scope="col" data-head="points"><button>points</button></th>'
    )
    for test in tests:
        name = escape(f"{test['number']} {test['id']}")
        title = escape(f"{test['title']} ({_percent(test['pass_rate'])} passed)")
        yield (
            f'<th scope="col" class="test" data-head="{name}" title="{title}">'
            f"<button>{name}</button></th>"
        )
    yield "</tr></thead>\n<tbody>\n"
    for number, student in enumerate(students):
        yield _row(number, student, tests)
    yield "</tbody></table></div>\n"


def _row(number: int, student: Data, tests: Iterable[Data]) -> str:
    name = student["name"] or student["student"]
    shown = name if name == student["student"] else f"{name} ({student['student']})"
    if student["attempts"] > 1 or not student["counts"]:
        shown += f" [{student['attempt']}]"
    find = escape(f"{name} {student['student']} {student['email']}".lower())
    points = student["points"]
    rank = -1 if points is None else points
    told = student["status"] if points is None else f"{points}"
    told += "*" if student["overrides"] else ""
    cells = []
    decided = {one["test"] for one in student["overrides"]}
    for at, test in enumerate(tests):
        outcome = student["outcomes"][at] if student["outcomes"] else ""
        kind, mark = _MARKS.get(outcome, ("n", ""))
        wrong = student["wrong_answers"][at] if student["wrong_answers"] else ""
        title = f' title="{escape(wrong)}"' if wrong else ""
        override = " o" if test["id"] in decided else ""
        cells.append(f'<td class="{kind} cell{override}"{title}>{mark}</td>')
    return (
        f'<tr data-row="{number}" data-is="{" ".join(_kinds(student))}" data-find="{find}">'
        f'<th scope="row"><button class="name">{escape(shown)}</button></th>'
        f'<td class="points" data-sort="{rank}">{escape(told)}</td>{"".join(cells)}</tr>\n'
    )


def _kinds(student: Data) -> Iterator[str]:
    """What a row can be filtered by."""
    if student["status"] == "graded":
        yield "passed" if student["verdict"] == "pass" else "failed"
    else:
        yield student["status"]
    if student["late"]:
        yield "late"
    if student["overrides"]:
        yield "override"
    if student["notes"]:
        yield "noted"


def _rules(cohort: Data) -> Iterator[str]:
    yield '<h2 id="rules">Rules, the least understood first</h2>\n<div class="rules">\n'
    rules = cohort["figures"]["rules"]
    for rule in sorted(rules, key=lambda rule: (rule["pass_rate"] is None, rule["pass_rate"])):
        width = 100 * (rule["pass_rate"] or 0)
        yield (
            f'<article><h3 class="id">{escape(rule["id"])}</h3><p>{escape(rule["text"])}</p>'
            f'<div class="rate"><i style="width:{width:.1f}%"></i></div>'
            f"<p><b>{_percent(rule['pass_rate'])}</b> hold it in all of its tests "
            f'({rule["passed"]} of {rule["judged"]}) <span class="faint">'
            f"{escape(rule['section'])}; {escape(', '.join(rule['tests']))}</span></p>"
        )
        if rule["wrong_answers"]:
            yield '<p class="faint">What the others seem to think:</p><ol class="wrong">'
            for wrong in rule["wrong_answers"]:
                who = escape(", ".join(wrong["students"][:30]))
                more = len(wrong["students"]) - 30
                yield (
                    f'<li><b>{wrong["count"]}</b> <span class="id">{escape(wrong["id"])}</span>: '
                    f'{escape(wrong["text"])}<details><summary class="faint">who</summary>{who}'
                    f"{f' and {more} more' if more > 0 else ''}</details></li>"
                )
            yield "</ol>"
        yield "</article>\n"
    yield "</div>\n"


def _tests(cohort: Data) -> Iterator[str]:
    heads = ("test", "passed", "judged", "rate", "tells strong from weak", "time", "failures")
    yield (
        '<h2 id="tests">Tests</h2>\n<p class="faint">The fifth column is the correlation between '
        "passing a test and the points in all others: near 1 it tells the strong from the weak, near "
        "0 it tells nothing, below 0 something may be wrong with the test.</p>\n"
        '<div class="wide"><table class="plain"><thead><tr>'
        + "".join(f'<th scope="col">{head}</th>' for head in heads)
        + "</tr></thead><tbody>\n"
    )
    for test in cohort["figures"]["tests"]:
        tells = test["discrimination"]
        weak = ' class="bad"' if tells is not None and tells < 0.1 else ""
        kinds = ", ".join(f"{_words(kind)} {count}" for kind, count in test["kinds"])
        cells = [
            f"<td>{test['passed']}</td><td>{test['passed'] + test['failed']}</td>",
            f"<td>{_percent(test['pass_rate'])}</td>",
            f"<td{weak}>{'-' if tells is None else f'{tells:+.2f}'}</td>",
            f"<td>{1000 * test['median_s']:.0f} ms</td><td>{escape(kinds)}</td>",
        ]
        head = f'<th scope="row" class="id">{test["number"]} {escape(test["id"])}</th>'
        yield f"<tr>{head}{''.join(cells)}</tr>\n"
    yield "</tbody></table></div>\n"


def _alike(cohort: Data, sources: Iterable[tuple[str, str]]) -> Iterator[str]:
    groups = cohort["figures"]["alike"]
    rows = {s["student"]: number for number, s in enumerate(cohort["students"]) if s["counts"]}
    yield '<h2 id="alike">Files that are the same but for comments and layout</h2>\n'
    if not groups:
        yield "<p>None.</p>\n"
    else:
        yield (
            "<p>A question, not a verdict: a pair may have worked together with leave, or started "
            "from the same published code. Ask before concluding.</p>\n"
        )
    embedded = set()
    for student, text in sources:
        embedded.add(student)
        yield _data(f"s{rows[student]}", text)
    for group in groups:
        shown = [student for student in group if student in embedded]
        names = ", ".join(f'<a href="#" data-open="{rows[s]}">{escape(s)}</a>' for s in group)
        yield f'<details class="alike"><summary>{len(group)} students</summary><p>{names}</p>'
        if len(shown) > 1:
            yield '<div class="pair">'
            for side in (0, 1):
                options = "".join(
                    f'<option value="s{rows[s]}"{" selected" if at == side else ""}>{escape(s)}</option>'
                    for at, s in enumerate(shown)
                )
                yield (
                    f'<div><select data-side="{side}" aria-label="file">{options}</select>'
                    f'<pre data-side="{side}"></pre></div>'
                )
            yield "</div>"
        yield "</details>\n"
    untouched = cohort["figures"]["untouched"]
    if untouched:
        yield f"<p>Handed in the starter as it was: {escape(', '.join(untouched))}.</p>\n"


def _decided(cohort: Data) -> Iterator[str]:
    yield '<h2 id="overrides">Overrides</h2>\n'
    listed = [(s, one) for s in cohort["students"] for one in s["overrides"]]
    if not listed:
        yield "<p>None.</p>\n"
        return
    heads = ("student", "what", "points", "reason", "who", "when")
    yield '<div class="wide"><table class="plain"><thead><tr>'
    yield "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr></thead><tbody>\n"
    for student, one in listed:
        cells = [student["student"], one["test"] or "whole score", str(one["points"])]
        cells += [one["reason"], one["who"], one["when"]]
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>\n"
    yield "</tbody></table></div>\n"


def _left_out(cohort: Data) -> Iterator[str]:
    told = [*cohort["notes"], *cohort["refused"]]
    if told:
        yield "<h2>Left out of the sources</h2>\n<ul>"
        yield from (f"<li>{escape(line)}</li>" for line in told[:200])
        yield f"</ul>\n{f'<p>and {len(told) - 200} more</p>' if len(told) > 200 else ''}"


def _for_script(cohort: Data) -> dict[str, Any]:
    tests = [
        {key: test[key] for key in ("id", "number", "title", "rule")}
        for test in cohort["figures"]["tests"]
    ]
    rules = [{key: r[key] for key in ("id", "text", "section")} for r in cohort["figures"]["rules"]]
    return {"tests": tests, "rules": rules}


def _short(report: Data, places: Mapping[str, int]) -> dict[str, Any]:
    """What the page shows of a report: passed tests by name, others with their texts cut."""
    tests = []
    for test in report["tests"]:
        if test["id"] not in places:
            continue
        short: dict[str, Any] = {"at": places[test["id"]], "outcome": test["outcome"]}
        if test["outcome"] != "pass":
            short |= {name: _cut(test[name]) for name in _TEXTS}
            short["traceback"] = [_cut(line) for line in test["traceback"][-8:]]
            short |= {name: test[name] for name in ("location", "wrong_answer")}
        tests.append(short)
    problem = report["problem"]
    if problem is not None:
        problem = {"message": _cut(problem["message"]), "help": problem["help"]}
        tests = []
    return {"tests": tests, "problem": problem}


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}\n… ({len(text)} characters in all)"


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{100 * rate:.0f}\u00a0%"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _words(kind: str) -> str:
    """A kind of failure, as a person writes it."""
    return kind.replace("_", " ")
