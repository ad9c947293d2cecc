"""What each format's readers get for four reports, to the letter; and that they can read it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from grader.records import report_from_json
from grader.render import FORMATS, renderer
from tests.render import golden, reading
from tests.render.reports import CASES, report

if TYPE_CHECKING:
    from pathlib import Path

FILES = list(golden.files())
CASE = pytest.mark.parametrize("case", CASES)


def load(name: str, case: str) -> Any:
    return json.loads((golden.FOLDER / f"{name}.{case}.json").read_text(encoding="utf-8"))


def read(name: str) -> str:
    return (golden.FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("path", "written"), FILES, ids=[path.name for path, _ in FILES])
def test_is_what_the_golden_file_holds(path: Path, written: bytes) -> None:
    assert written.decode() == path.read_bytes().decode()


def test_there_is_no_other_golden_file() -> None:
    assert sorted(golden.FOLDER.iterdir()) == sorted(path for path, _ in FILES)


def test_every_format_has_golden_files() -> None:
    assert set(FORMATS) <= set(golden.FORMATS)
    assert all(callable(renderer(name)) for name in FORMATS)


@CASE
def test_json_is_valid_and_comes_back(case: str) -> None:
    data = load("json", case)
    reading.VALIDATOR.validate(data)
    assert report_from_json(data) == CASES[case]()


@CASE
def test_text_keeps_to_80_columns(case: str) -> None:
    quoted = ("      record = [lab.user(",)  # a replay's lines are the student's to copy, whole
    lines = golden.FORMATS["text"][0](CASES[case]()).split("\n")
    assert [line for line in lines if len(line) > 80 and not line.startswith(quoted)] == []


@CASE
def test_colour_is_all_that_colour_adds(case: str) -> None:
    coloured = re.sub("\x1b\\[[0-9]+m", "", read(f"colour.{case}.ansi"))
    plain = read(f"text.{case}.txt").split("\n")
    assert [line.rstrip() for line in coloured.split("\n")] == plain


@CASE
def test_junit_is_valid(case: str) -> None:
    reading.junit(read(f"junit.{case}.xml"))


@pytest.mark.parametrize(
    ("case", "failures", "errors"),
    [("passing", 0, 0), ("failing", 6, 0), ("problem", 1, 0), ("error", 0, 5)],
)
def test_junit_is_green_only_for_a_pass(case: str, failures: int, errors: int) -> None:
    suite = reading.junit(read(f"junit.{case}.xml"))[0]
    assert (int(suite.get("failures")), int(suite.get("errors"))) == (failures, errors)


@CASE
def test_gradescope_adds_up(case: str) -> None:
    result, expected = load("gradescope", case), CASES[case]()
    if case == "error":
        assert "score" not in result
        assert not [test for test in result["tests"] if {"score", "max_score"} & test.keys()]
    else:
        assert result["score"] == expected.score.points == sum(t["score"] for t in result["tests"])
        assert sum(t["max_score"] for t in result["tests"]) == expected.score.max_points
    assert {t["visibility"] for t in result["tests"]} == {result["visibility"]} == {"visible"}


@CASE
def test_classroom50_adds_up(case: str) -> None:
    result = load("classroom50", case)
    assert set(result) == {
        *("schema", "classroom", "assignment", "submission", "commit", "release", "review"),
        *("datetime", "score", "max-score", "tests"),
    }
    for key in ("score", "max-score"):
        assert type(result[key]) is int
        assert result[key] == sum(test[key] for test in result["tests"])
    assert all(result[key] for key in result if key not in ("score", "tests"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", result["datetime"])


@pytest.mark.parametrize(
    ("case", "status"),
    [("passing", "pass"), ("failing", "fail"), ("problem", "error"), ("error", "error")],
)
def test_exercism_status(case: str, status: str) -> None:
    result = load("exercism", case)
    assert (result["version"], result["status"]) == (3, status)
    assert bool(result["message"]) == (status == "error")
    assert ("tests" in result) == (status != "error")


@pytest.mark.parametrize(
    ("case", "gradable", "score"),
    [("passing", True, 1.0), ("failing", True, 0.125), ("problem", False, None)],
)
def test_prairielearn_score(case: str, gradable: bool, score: float | None) -> None:
    result = load("prairielearn", case)
    assert (result["gradable"], result.get("score")) == (gradable, score)


def test_prairielearn_without_a_verdict_costs_no_attempt() -> None:
    assert load("prairielearn", "error")["gradable"] is False


@CASE
def test_markdown_has_nothing_of_the_submission_in_it(case: str) -> None:
    kinds = reading.markdown(read(f"markdown.{case}.md"))
    assert read(f"summary.{case}.md") == read(f"markdown.{case}.md")
    assert ("table_open" in kinds) == (case != "problem")


@CASE
def test_html_nests_and_fetches_nothing(case: str) -> None:
    page = reading.Page(read(f"html.{case}.html"))
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "img", "link", "iframe", "object", "form", "base"}
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    links = [str(attrs["href"]) for tag, attrs in page.tags if tag == "a"]
    assert len(ids) == len(set(ids))
    assert [link for link in links if link.removeprefix("#") not in ids] == []


def test_github_annotates_the_students_lines() -> None:
    found = reading.commands(read("github.failing.txt"))
    lines = [(name, given.get("file"), given.get("line")) for name, given, _ in found]
    assert lines == [
        *(("error", "labs/harness.py", line) for line in ("230", "214", "190", None, None)),
        ("notice", None, None),
    ]
    assert found[0][2] == "it raised KeyError: 'tool_call_id'\nA user's message has no such key."


def test_github_annotates_a_problem_once() -> None:
    first, notice = reading.commands(read("github.problem.txt"))
    assert first[:2] == (
        "error",
        {"file": "labs/harness.py", "line": "12", "title": "syntax error"},
    )
    assert notice[0] == "notice"


def test_github_warns_where_the_grader_failed() -> None:
    assert [name for name, *_ in reading.commands(read("github.error.txt"))] == [
        "warning",
        "notice",
    ]


@pytest.mark.parametrize("verdict", ["fail", "error"])
def test_a_run_that_no_test_accounts_for_is_no_pass_anywhere(verdict: Any) -> None:
    cut = report(verdict, [], notes=("The 60 s were used up.",))
    suite = reading.junit(renderer("junit")(cut))[0]
    assert int(suite.get("failures")) + int(suite.get("errors")) == 1
    kind = {"fail": "error", "error": "warning"}[verdict]
    assert reading.commands(renderer("github")(cut))[0][0] == kind
    for name in ("html", "markdown", "gradescope", "prairielearn", "exercism"):
        if (name, verdict) != ("exercism", "fail"):
            assert "The 60 s were used up." in renderer(name)(cut)
