"""Every renderer on arbitrary reports: it never raises, what it writes parses, hostile text stays text."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import HealthCheck, given, settings

from grader.records import Outcome, report_from_json
from grader.render import (
    FORMATS,
    classroom50,
    exercism,
    github,
    gradescope,
    html,
    junit,
    markdown,
    prairielearn,
    renderer,
    text,
)
from grader.render.escaping import clip, clip_bytes, fit, one_line, visible
from grader.render.style import CSS
from tests.render import reading
from tests.render.reports import HOSTILE, case, failing, report
from tests.render.strategies import reports, texts

if TYPE_CHECKING:
    from grader.records import Report, TestResult

hostile = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\ud800-\udfff\ufffe\uffff]"
)
_PAGE_TAGS = reading.Page(html.render(failing())).tags


@hostile
@given(reports)
def test_json(any_report: Report) -> None:
    data = json.loads(renderer("json")(any_report).encode("ascii"))
    reading.VALIDATOR.validate(data)
    assert report_from_json(data) == any_report


@hostile
@given(reports)
def test_text(any_report: Report) -> None:
    named = (replace(test, id=f"test_{n}") for n, test in enumerate(any_report.tests))  # functions
    any_report = replace(any_report, tests=tuple(named))
    plain = text.render(any_report)
    assert plain.endswith("\n")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", plain)
    coloured = re.sub("\x1b\\[[0-9]+m", "", text.render(any_report, colour=True))
    assert "\x1b" not in coloured


@hostile
@given(reports)
def test_junit(any_report: Report) -> None:
    written = junit.render(any_report)
    assert len(written) < junit.LIMIT
    suite = reading.junit(written)[0]
    assert {element.tag for element in suite.iter()} <= {
        *("testsuite", "properties", "property", "testcase"),
        *("failure", "error", "skipped", "system-out"),
    }
    for test in any_report.tests:
        if test.stdout and len(test.stdout) < 1_000:
            assert visible(test.stdout) in [found.text for found in suite.iter("system-out")]


@hostile
@given(reports)
def test_github(any_report: Report) -> None:
    written = github.render(any_report)
    assert not _HIDDEN.search(written)
    found = reading.commands(written)
    assert {name for name, *_ in found} <= {"error", "warning", "notice"}
    assert all(set(given) <= {"file", "line", "title"} for _, given, _ in found)
    outside = written.split("\n::stop-commands::")[0].split("\n")
    assert len(outside) == len(found) <= 2 * github.ANNOTATIONS + 1
    assert found[-1][2].startswith(f"{any_report.score.points} of ")


@hostile
@given(reports)
def test_gradescope(any_report: Report) -> None:
    result = json.loads(gradescope.render(any_report).encode("ascii"))
    assert ("score" in result) == (any_report.verdict != "error")
    shown = [
        result["output"],
        *(test[key] for test in result["tests"] for key in ("name", "output")),
    ]
    assert not _HIDDEN.search("".join(shown))
    assert {test.get("status", "none") for test in result["tests"]} <= {"passed", "failed", "none"}


@hostile
@given(reports)
def test_classroom50(any_report: Report) -> None:
    result = json.loads(classroom50.render(any_report).encode("ascii"))
    assert result["schema"] == classroom50.SCHEMA
    assert len(result["tests"]) == len(any_report.tests)
    assert re.fullmatch(r"[0-9-]{10}T[0-9:]{8}Z", result["datetime"])


@hostile
@given(reports)
def test_exercism(any_report: Report) -> None:
    result = json.loads(exercism.render(any_report).encode("ascii"))
    assert result["status"] in ("pass", "fail", "error")
    messages = [result["message"], *(test.get("message") for test in result.get("tests", []))]
    assert max(len((message or "").encode()) for message in messages) <= exercism.MESSAGE
    outputs = [test.get("output", "") for test in result.get("tests", [])]
    assert max(map(len, outputs), default=0) <= exercism.OUTPUT
    assert not _HIDDEN.search("".join([*filter(None, messages), *outputs]))


@hostile
@given(reports)
def test_prairielearn(any_report: Report) -> None:
    written = prairielearn.render(any_report)
    assert len(written.encode("ascii")) <= prairielearn.LIMIT
    result = json.loads(written)
    assert 0 <= result.get("score", 0) <= 1
    assert result["gradable"] == ("score" in result)


@hostile
@given(reports)
def test_markdown(any_report: Report) -> None:
    written = markdown.render(any_report)
    assert len(written.encode()) <= markdown.LIMIT
    assert not _HIDDEN.search(written)
    kinds = reading.markdown(written)
    # Nothing outside a fence but our own headings, paragraphs, notes, lists and the one table.
    assert kinds.count("table_open") <= 1
    assert not {"ordered_list_open", "code_block"} & set(kinds)
    fences = [token for token in reading.MARKDOWN.parse(written) if token.type == "fence"]
    assert {token.info for token in fences} <= {"text", "diff", "python"}


@hostile
@given(reports)
def test_html(any_report: Report) -> None:
    written = html.render(any_report)
    assert not _HIDDEN.search(written)
    page = reading.Page(written)
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in _PAGE_TAGS} | {"section"}
    names = {name for _, attrs in _PAGE_TAGS for name in attrs}
    assert {name for _, attrs in page.tags for name in attrs} <= names
    assert written.count("<style>") == 1
    assert CSS in written


@given(texts)
def test_visible_shows_all_that_hides_and_is_done_once(given: str) -> None:
    shown = visible(given)
    assert visible(shown) == shown
    assert not _HIDDEN.search(shown)
    assert "\n" not in one_line(given)


@pytest.mark.parametrize("limit", [0, 1, 5, 40, 100, 10_000])
@given(texts)
def test_clip_keeps_its_limit(limit: int, given: str) -> None:
    assert len(clip(given, limit)) <= limit or clip(given, limit) == given
    assert len(clip(given, limit)) <= max(limit, 0)
    if limit >= 3:
        assert len(clip_bytes(visible(given), limit).encode()) <= limit


def test_fit_takes_the_fullest_that_fits_and_otherwise_the_least() -> None:
    assert fit(lambda size: "x" * size, 6_000) == "x" * 5_000
    assert fit(lambda size: "é" * (size + 10), 5) == "é" * 10


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_text_in_every_field(name: str) -> None:
    found = report(
        "fail", [_poisoned(n, outcome) for n, outcome in enumerate(get_args(Outcome), 1)]
    )
    written = renderer(name)(found)
    if name in ("markdown", "github", "html", "junit"):
        assert not _HIDDEN.search(written)
    if name == "html":
        assert "<script>" not in written
        assert visible(HOSTILE) in reading.Page(written).text


def _poisoned(number: int, outcome: Outcome) -> TestResult:
    keys = ("message", "given", "expected", "observed", "hint", "replay", "stdout")
    return case(
        "late_result",
        number,
        outcome,
        kind="rule" if outcome == "fail" else None,
        traceback=(HOSTILE, HOSTILE),
        **dict.fromkeys(keys, HOSTILE),
    )


def test_a_megabyte_is_cut_to_what_each_format_takes() -> None:
    big = "é<&`\\x\n" * 4_000
    tests = [
        case("late_result", n, "fail", kind="rule", message=f"{n}{big}", observed=big, stdout=big)
        for n in range(1, 40)
    ]
    found = report("fail", [replace(test, id=f"test_{test.number}") for test in tests])
    assert len(github.summary(found).encode()) <= github.SUMMARY
    assert len(prairielearn.render(found).encode()) <= prairielearn.LIMIT
    assert len(junit.render(found).encode()) <= junit.LIMIT
    log = reading.commands(github.render(found))
    assert [name for name, *_ in log].count("error") == github.ANNOTATIONS
    assert log[-2][1]["title"] == "30 more"


@pytest.mark.parametrize("name", FORMATS)
def test_texts_of_100_kb_are_rendered_in_a_moment(name: str) -> None:
    big = "x" * 50_000 + "`- a\n" * 10_000
    fields = dict.fromkeys(("message", "given", "expected", "observed", "diff", "stdout"), big)
    found = report("fail", [case("late_result", n, "fail", kind="rule", **fields) for n in (1, 2)])
    began = time.process_time()
    assert renderer(name)(found)
    assert time.process_time() - began < 5


def test_printing_the_token_of_a_fence_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Foreseen:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def hexdigest(self) -> str:
            return ("b" if self.data.startswith(b"a" * 64) else "a") * 64

    token = "A" * 64  # the runner takes it in any case
    stdout = f"::{token}::\n::error::x\n"
    found = report("fail", [case("late_result", 1, "fail", stdout=stdout, message="no")])
    monkeypatch.setattr("grader.render.github.hashlib.sha256", Foreseen)
    written = github.render(found)
    assert f"::stop-commands::{'b' * 64}" in written
    assert [name for name, *_ in reading.commands(written)] == ["error", "notice"]
