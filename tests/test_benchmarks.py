"""The benchmark measures what it says: plain pytest really grades, and a worse ratio is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import plain, table
from benchmarks.measuring import Command
from benchmarks.table import Row
from grader import lessons

ROOT = Path(__file__).parent.parent
SOLUTION = ROOT / "tests" / "solutions" / "lesson_10" / "harness.py"


def plainly(folder: Path, harness: Path) -> str:
    plain.write(folder, lessons.find(10), harness, [str(ROOT / "grader"), str(ROOT)])
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=no"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.strip().splitlines()[-1]


def test_what_is_measured_against_grades_the_same_tests(tmp_path: Path) -> None:
    assert plainly(tmp_path / "right", SOLUTION).startswith("14 passed")
    wrong = tmp_path / "harness.py"
    text = SOLUTION.read_text(encoding="utf-8")
    assert text.count("    return view\n# --- end ---") == 1
    wrong.write_text(text.replace("    return view\n# --- end ---", "    return list(messages)\n"))
    failed = plainly(tmp_path / "wrong", wrong)
    assert "11 failed" in failed
    assert "3 passed" in failed


def test_a_command_that_ends_otherwise_has_no_figure() -> None:
    with pytest.raises(RuntimeError, match="gave 3"):
        Command([sys.executable, "-c", "raise SystemExit(3)"]).run()
    taken = Command([sys.executable, "-c", "raise SystemExit(3)"], expect=3).run()
    assert taken.status == 3
    assert taken.wall_s > 0


@pytest.mark.parametrize(
    ("row", "met"),
    [
        (Row("a", 1.3, 1.3), True),
        (Row("a", 1.31, 1.3), False),
        (Row("a", 3.0, 3.0, at_least=True), True),
        (Row("a", 2.9, 3.0, at_least=True), False),
    ],
)
def test_a_target_is_met_or_missed(row: Row, met: bool) -> None:
    assert row.met is met
    assert ("MISSED" in row.line()) is not met


def test_a_ratio_of_cpu_times_that_is_worse_than_half_as_much_again_is_told() -> None:
    rows = [Row("slower", 9, 9, cpu=3.01), Row("same", 9, 9, cpu=3.0), Row("new", 9, 9, cpu=99)]
    told = table.worse(rows, {"slower": 2.0, "same": 2.0}, 1.5)
    assert len(told) == 1
    assert told[0].startswith("slower: 3.01 times")
