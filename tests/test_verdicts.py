"""The commands behind docs/verdicts.md count what they should, and the page has what they count."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.records import Report
from grader.submission import from_bytes
from tests.right_answers import right_answers
from tests.wrong_answers import table

ROOT = Path(__file__).parent.parent
NUMBERS = [int(path.stem[-2:]) for path in sorted(table.HERE.glob("lesson_*.toml"))]


@pytest.fixture
def wrong(grade_locally: Callable[..., Report]) -> Report:
    """The report of lesson 10's first wrong answer."""
    entry = table.entries(10)[0]
    return grade_locally(from_bytes(table.edited(10, entry).encode()), 10)


def test_a_wrong_answer_that_is_all_right(wrong: Report) -> None:
    row, entry = table.Row(10), table.entries(10)[0]
    row.count(entry, set(table.misses(entry, wrong)))
    assert (row.tried, row.caught, row.where, row.nameable, row.named) == (1, 1, 1, 1, 1)
    assert "| 10 | 1 | 1 | 1 | 1 of 1 | 0 of 0 |" in table.table([row])


def test_what_a_report_misses_is_told(wrong: Report) -> None:
    entry = table.entries(10)[0]
    other = {**entry, "fails": entry["fails"][1:]}
    nameless = {key: value for key, value in entry.items() if key != "named"}
    assert table.misses(other, wrong) == ["where"]
    assert table.misses({**entry, "named": "newest-wins"}, wrong) == ["name"]
    assert table.misses(nameless, wrong) == ["name"]
    assert "caught" in table.misses(entry, dataclasses.replace(wrong, verdict="pass"))
    row = table.Row(10)
    row.count(nameless, {"name"})
    assert row.odd == [f"lesson 10, {entry['name']}: not name"]


@pytest.mark.parametrize("number", NUMBERS)
def test_wrong_answers_have_names_of_their_own(number: int) -> None:
    names = [entry["name"] for entry in table.entries(number)]
    assert len(names) == len(set(names)) >= 25
    assert right_answers(number)[0].name == "harness.py"


def test_every_mutant_that_may_pass_has_a_reason() -> None:
    path = ROOT / "tests" / "mutation" / "equivalent.toml"
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    for entry in entries:
        assert entry.keys() == {"lesson", "before", "after", "why"}
        assert entry["why"].endswith(".")
        assert f"| {entry['lesson']} | `{entry['before']}` | `{entry['after']}` |" in page


def test_the_page_has_every_table_and_counts_every_wrong_answer() -> None:
    page = (ROOT / "docs" / "verdicts.md").read_text(encoding="utf-8")
    for name in ("right answers", "wrong answers", "mutation", "survivors"):
        assert re.search(rf"<!-- {name} -->\n\| .*?<!-- end of {name} -->", page, re.DOTALL)
    for number in NUMBERS:
        count = len(table.entries(number))
        assert f"| {number} | {count} | {count} | {count} |" in page


def test_a_table_is_put_where_its_marks_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "verdicts.md"
    page.write_text("above\n<!-- x -->\nold\n<!-- end of x -->\nbelow\n", encoding="utf-8")
    monkeypatch.setattr(table, "DOCS", page)
    table.written("x", r"new \1")
    assert page.read_text(encoding="utf-8").split("\n")[1:4] == [
        "<!-- x -->",
        r"new \1",
        "<!-- end of x -->",
    ]
