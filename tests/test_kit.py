from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader import kit, lessons
from grader.errors import UsageError

ROOT = Path(__file__).parent.parent
NUMBERS = sorted(lessons.folders())


def run(folder: Path, *args: str, installed: bool) -> subprocess.CompletedProcess[str]:
    env = {
        k: v for k, v in os.environ.items() if not k.startswith(("LAB_CHECK", "CI", "PYTHONPATH"))
    }
    if installed:
        env["PYTHONPATH"] = str(ROOT)
    else:
        args = ("-S", *args)  # no site-packages, so nothing is installed
    return subprocess.run(
        [sys.executable, *args], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("number", NUMBERS)
def test_the_line_on_the_page_works_in_a_kit(tmp_path: Path, number: int) -> None:
    kit.write(lessons.find(number), tmp_path)
    line = ("lab/lab_check.py", "--harness", "harness.py", "--lesson", str(number), "tests.py")
    without = run(tmp_path, *line, installed=False)
    assert without.returncode == 1
    assert "as your course tells you" in without.stderr
    assert "-m pip install -e FOLDER-OF-THE-CLONE" in without.stderr
    assert "install lab-check" not in without.stderr
    done = run(tmp_path, *line, "--runner", "local", installed=True)
    assert done.returncode == 1
    assert "points - not passed" in done.stdout
    solution = ROOT / "tests" / "solutions" / f"lesson_{number:02}" / "harness.py"
    (tmp_path / "harness.py").write_bytes(solution.read_bytes())
    done = run(tmp_path, *line, "--runner", "local", installed=True)
    assert done.returncode == 0, done.stdout


def test_a_cell_of_the_page_runs_in_a_kit_with_nothing_installed(tmp_path: Path) -> None:
    kit.write(lessons.find(10), tmp_path)
    cell = "import damaged, harness, lab; print(lab.validate(damaged.missing_result)[0])"
    done = run(tmp_path, "-c", cell, installed=False)
    assert done.stdout == "messages[1]: toolCall c2 has no toolResult\n"


def test_a_kit_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "harness.py").write_text("mine\n")
    with pytest.raises(UsageError, match="there already"):
        kit.write(lessons.find(10), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["harness.py"]
    assert (tmp_path / "harness.py").read_text() == "mine\n"


def test_a_kit_can_not_be_written_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't be written to"):
        kit.write(lessons.find(10), tmp_path / "file" / "kit")


def test_a_lesson_folder_in_place_of_the_tests(tmp_path: Path) -> None:
    kit.write(lessons.find(10), tmp_path)
    line = ("lab/lab_check.py", "--harness", "harness.py", "--lesson", "10", "--runner", "local")
    own = run(tmp_path, *line, str(ROOT / "hidden_tests" / "lesson_10"), installed=True)
    assert own.returncode == 1
    (tmp_path / "own.py").write_text("def test_mine(): pass\n")
    refused = run(tmp_path, *line, "own.py", installed=True)
    assert refused.returncode == 2
    assert "lesson.toml, scenes.py and one test_*.py" in refused.stderr
