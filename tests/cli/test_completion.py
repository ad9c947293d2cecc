"""What a shell offers when Tab is pressed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from grader import lessons
from grader.cli import cli
from tests.cli.calling import ROOT


def offered(*words: str) -> list[str]:
    """What is offered for the last of `words`."""
    shell = ShellComplete(cli, {}, "lab_check", "_LAB_CHECK_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


def test_lessons_and_tests_by_name() -> None:
    numbers = [str(number) for number in lessons.folders()]
    assert offered("--lesson", "") == numbers
    assert offered("rules", "--lesson", "1") == ["10"]
    ids = [test.id for test in lessons.find(9).tests]
    assert offered("--lesson", "9", "--test", "") == ids
    assert offered("grade", "--lesson", "10", "--test", "walk") == [
        "walk_away_recovers",
        "walk_away_after_every_event",
    ]
    assert offered("--test", "walk") == []


def test_rules_gaps_and_formats() -> None:
    assert "first-result-wins" in offered("rules", "--lesson", "10", "first")
    assert offered("hint", "--lesson", "10", "re") == ["repair_tool_history"]
    assert offered("--format", "j") == ["json", "junit"]


def test_the_first_word_is_a_command_an_option_or_a_file() -> None:
    assert {"grade", "batch", "hint", "demo"} <= set(offered(""))
    assert "--watch" in offered("--w")
    assert "--version" in offered("--")
    assert offered("harn") == ["harn"]


def test_a_broken_lesson_offers_nothing(tmp_path: Path) -> None:
    assert offered("--lessons", str(tmp_path / "nowhere"), "--lesson", "") == []
    (tmp_path / "lesson_11").mkdir()
    assert offered("--lessons", str(tmp_path), "--lesson", "11", "--test", "") == []
    assert "11" in offered("--lessons", str(tmp_path), "--lesson", "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_script_that_is_documented_for_bash(tmp_path: Path) -> None:
    program = tmp_path / "lab_check"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m grader "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    script = (
        'eval "$(_LAB_CHECK_COMPLETE=bash_source lab_check)"\n'
        "COMP_WORDS=(lab_check --lesson 10 --test walk_away_r) COMP_CWORD=4\n"
        "compopt() { :; }\n"
        "_lab_check_completion lab_check\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}
    done = subprocess.run(
        ["bash", "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["walk_away_recovers"], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "_LAB_CHECK_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [sys.executable, "-m", "grader"], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "lab_check" in done.stdout
