"""The page, in a browser: it sorts, filters, opens reports, and no name in it becomes markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from grader import grading
from grader.render import cohort as page
from tests.cohort import browser, make_cohort
from tests.cohort.helpers import Pretend, batch

if TYPE_CHECKING:
    from pathlib import Path

EVIL = '<img src=x onerror="document.title=1"> & "Q" </script><script>alert(1)<!--'
needs_chromium = pytest.mark.skipif(browser.CHROMIUM is None, reason="no chromium here")


@pytest.fixture(scope="module", params=[30, 800])
def index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, Path]:
    folder = tmp_path_factory.mktemp(f"page{request.param}")
    made = make_cohort.students(request.param)
    files = make_cohort.plain(made)
    files["evil/harness.py"] = files["s0003/harness.py"].replace("\n\n\n", "\n# mine\n\n")
    source = make_cohort.as_zip(files, folder / "in.zip")
    roster = (
        make_cohort.roster(made) + '"evil","' + EVIL.replace('"', '""') + '",,,,\ngone,Gone,,,,\n'
    )
    (folder / "roster.csv").write_text(roster, encoding="utf-8")
    (folder / "out").mkdir()
    (folder / "out/overrides.toml").write_text(
        '[[override]]\nstudent = "s0001"\ntest = "totals"\nreason = "<i>why</i>"\nwho = "N"\nwhen = 1\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "grade", Pretend())
        batch(source, folder / "out", roster_file=folder / "roster.csv", page=page.render)
    return request.param, folder / "out/index.html"


def test_the_page_holds_everything_and_loads_nothing(index: tuple[int, Path]) -> None:
    text = index[1].read_text(encoding="utf-8")
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(
        r"""(?:src|href)=["']?(?!["']?#)[^>\s]""", outside.replace("&lt;img src", "")
    )
    assert "http://" not in text.replace("http-equiv", "")
    assert "https://" not in text
    assert "<img" not in text
    assert text.count("</html>") == 1


@needs_chromium
def test_it_opens_without_an_error_under_its_own_policy(index: tuple[int, Path]) -> None:
    ready, log = browser.play(index[1])
    assert 'data-ready="yes"' in ready[0]
    assert [line for line in log.splitlines() if "CONSOLE" in line] == []


@needs_chromium
def test_it_loads_within_a_second(index: tuple[int, Path]) -> None:
    took_ms, _ = browser.play(index[1], "return performance.now();")
    assert took_ms < 1000


@needs_chromium
def test_sort_filter_search_and_open(index: tuple[int, Path]) -> None:
    count = index[0] + 2
    script = """
      const $ = (selector) => document.querySelector(selector);
      const shown = () => Array.from($("#map tbody").rows).filter((row) => !row.hidden);
      const told = {all: shown().length, title: document.title};
      const type = (id, value) => { $(id).value = value; $(id).dispatchEvent(new Event("input")); };
      const heads = document.querySelectorAll("#map thead button");
      heads[1].click();
      told.lowest = shown()[0].cells[1].textContent;
      heads[1].click();
      told.highest = [shown()[0].cells[1].textContent, $("#map thead th:nth-child(2)").ariaSort];
      type("#search", "s0002");
      told.found = shown().map((row) => row.dataset.find);
      type("#search", "JOSÉ");
      told.folded = shown().length > 0 && shown().every((row) => row.dataset.find.includes("josé"));
      type("#search", "");
      type("#filter", "missing");
      told.missing = shown().map((row) => row.cells[0].textContent);
      type("#filter", "override");
      told.override = shown().map((row) => row.cells[1].textContent);
      type("#filter", "");
      type("#missed", "5");
      told.missed = shown().length;
      type("#missed", "");
      const row = Array.from($("#map tbody").rows).find((one) => one.dataset.find.includes("s0002"));
      row.querySelector("button").click();
      told.open = $("#report").open;
      told.who = $("#who").textContent;
      told.report = $("#inside").textContent;
      told.markup = $("#inside").querySelector("b, i, img") !== null;
      told.hash = location.hash;
      document.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
      told.next = $("#who").textContent !== told.who;
      $("#close").click();
      told.closed = !$("#report").open;
      const evil = Array.from($("#map tbody").rows).find((one) => one.dataset.find.includes("evil"));
      evil.click();
      told.evil = $("#who").textContent;
      $("#close").click();
      const alike = document.querySelector(".alike");
      alike.open = true;
      for (const one of alike.querySelectorAll("select")) one.dispatchEvent(new Event("input"));
      told.alike = Array.from(alike.querySelectorAll("pre")).map((one) => one.textContent.length > 50);
      return told;
    """
    told: dict[str, Any]
    told, log = browser.play(index[1], script)
    assert isinstance(told, dict), told
    assert (told["all"], told["title"]) == (count, "Lesson 90: Small sums")
    assert (told["lowest"], told["highest"]) == ("missing", ["4", "descending"])
    assert len(told["found"]) == 1
    assert told["folded"]
    assert (told["missing"], told["override"]) == (["Gone (gone)"], ["4*"])
    assert 0 < told["missed"] < count
    assert told["open"]
    assert told["who"] == "Zoë Okafor (s0002)"
    assert "another <b>number</b>" in told["report"]
    assert "The number is multiplied by itself" in told["report"]
    assert not told["markup"]
    assert told["hash"].startswith("#student-")
    assert told["next"]
    assert told["closed"]
    assert told["evil"] == f"{EVIL} (evil)"
    assert told["alike"] == [True, True]
    assert [line for line in log.splitlines() if "CONSOLE" in line] == []
