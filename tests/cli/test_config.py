"""Defaults from the environment and from a course's pyproject.toml, and what neither may decide."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from grader import config, lessons
from grader.cli import cli
from tests.cli.calling import RIGHT, ROOT, Call
from tests.cli.commands import leaves

ONE = ("--test", "late_result")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course: a folder with a table, and one below it where somebody works."""
    work = tmp_path / "course" / "work"
    work.mkdir(parents=True)
    (work / "harness.py").write_bytes(RIGHT.read_bytes())
    monkeypatch.chdir(work)
    return work


def table(folder: Path, *lines: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text("\n".join(["[tool.lab_check]", *lines, ""]), encoding="utf-8")
    return path


# --- the environment -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "command"), leaves(), ids=lambda value: str(value)[:30])
def test_every_option_can_be_set_in_the_environment(
    name: str, command: click.Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = click.Context(cli, info_name="lab_check", auto_envvar_prefix="LAB_CHECK")
    words = name.split()
    for word in words[:-1]:
        ctx = click.Context(click.Group(word), parent=ctx, info_name=word)
    options = {**command.context_settings, "parent": ctx, "info_name": words[-1]}
    ctx = click.Context(command, **options)
    prefix = "LAB_CHECK" if name == "grade" else f"LAB_CHECK_{name.replace(' ', '_').upper()}"
    for param in command.params:
        if isinstance(param, click.Option) and param.name not in ("harness", "folders"):
            word = max(param.opts, key=len).lstrip("-").replace("-", "_")
            key = f"{prefix}_{word.upper()}"
            monkeypatch.setenv(key, "7")
            assert param.resolve_envvar_value(ctx) == "7", key
            monkeypatch.delenv(key)


def test_names_in_the_environment_are_the_options_own(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "LESSON": "10",
        "RUNNER": "local",
        "TEST": "late_result orphan_result",
        "QUIET": "1",
        "FAIL_UNDER": "",
        "HARNESS": "elsewhere.py",
    }.items():
        monkeypatch.setenv(f"LAB_CHECK_{name}", value)
    assert call("harness.py").out == "2 of 2 points - passed\n"
    monkeypatch.setenv("LAB_CHECK_FORMAT", "json")
    monkeypatch.delenv("LAB_CHECK_QUIET")
    assert call("--test", "late_result", "harness.py").out.startswith("{")
    assert "repair_tool_history" in call("hint").out


# --- the table -------------------------------------------------------------------------------------


def test_the_nearest_table_upwards_holds(call: Call, here: Path) -> None:
    table(here.parent.parent, "lesson = 7", "seed = 3")
    table(here.parent, "lesson = 10", "seed = 5", "verbose = true")
    (here / "pyproject.toml").write_text("[project]\nname = 'mine'\n", encoding="utf-8")
    done = call("--runner", "local", *ONE, "harness.py")
    assert (done.status, done.err) == (0, "")
    assert "  seed        5" in done.out


def test_command_line_before_environment_before_table(
    call: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(here, "lesson = 7", "seed = 5", "verbose = true")
    monkeypatch.setenv("LAB_CHECK_SEED", "6")
    call_it = ("--runner", "local", *ONE, "--lesson", "10")
    assert "  seed        6" in call(*call_it, "harness.py").out
    assert "  seed        4" in call(*call_it, "--seed", "4", "harness.py").out


@pytest.mark.parametrize(
    "line",
    [
        'runner = "local"',
        "fail-under = 0",
        "fail_under = 0",
        'test = ["late_result"]',
        'report = ["json=x"]',
        'lessons = ["."]',
    ],
)
def test_a_file_that_was_merely_found_decides_nothing(call: Call, here: Path, line: str) -> None:
    path = table(here, line)
    done = call.grade("harness.py")
    assert done.status == 2
    assert f"{path} sets" in done.err
    assert "--config" in done.err


def test_a_file_that_was_named_decides(
    call: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(
        here.parent,
        "lesson = 10",
        'runner = "local"',
        'test = "late_result"',
        'lessons = "lessons"',
        'report = ["json=report.json"]',
    )
    shutil.copytree(lessons.folders()[10], here.parent / "lessons" / "lesson_10")
    toml = here.parent / "lessons" / "lesson_10" / "lesson.toml"
    text = toml.read_text(encoding="utf-8").replace('title = "', 'title = "Our own: ', 1)
    toml.write_text(text.replace('modules = ["damaged"]', "modules = []"), encoding="utf-8")
    (here.parent / "lessons" / "lesson_10" / "damaged.py").write_bytes(
        (ROOT / "damaged" / "__init__.py").read_bytes()
    )
    toml.write_text(
        toml.read_text(encoding="utf-8").replace("modules = []", 'modules = ["damaged"]')
    )
    done = call("--config", path, "harness.py")
    assert (done.status, done.err) == (0, "")
    assert "Our own: " in done.out
    assert (here / "report.json").is_file()
    monkeypatch.setenv("LAB_CHECK_CONFIG", str(path))
    monkeypatch.setenv("CI", "true")
    assert call("harness.py").status == 0


def test_a_pipeline_looks_for_no_table(
    call: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(here, "this is not TOML")
    monkeypatch.setenv("CI", "true")
    assert call.grade(*ONE, "harness.py").status == 0


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("nonsense = 1",), "there is no setting 'nonsense'"),
        (("lesson = ",), "no TOML that can be read"),
        (("seed = 'many'",), "neither a whole number nor the word file"),
        (("[[tool.lab_check]]",), "no TOML that can be read"),
    ],
)
def test_a_table_that_is_wrong_is_a_call_that_is_off(
    call: Call, here: Path, lines: tuple[str, ...], says: str
) -> None:
    table(here, *lines)
    done = call.grade("harness.py")
    assert done.status == 2
    assert says in done.err


def test_a_table_that_is_no_table(call: Call, here: Path) -> None:
    for text in ("tool = 3\n# lab_check", "tool.lab_check = 3"):
        (here / "pyproject.toml").write_text(text, encoding="utf-8")
        assert call.grade("harness.py").status == 2
    assert "can't be read" in call("--config", "nowhere.toml", "--lesson", "10", "x.py").err


def test_a_folder_that_is_gone_and_a_file_that_is_not_ours_to_read(
    call: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(here, "lesson = 7")
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        assert config.settings(None, here) == ({}, None)
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = call.grade(*ONE, RIGHT)
    assert done.status == 0, done.err


def test_toml_is_read_only_where_there_is_a_table(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    code = (
        "import pathlib, sys; from grader import config;"
        "print(config.settings(None, pathlib.Path.cwd()), 'tomllib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "({}, None) False\n"
    assert config.GUARDED
