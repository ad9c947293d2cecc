"""Rooms opened before the command line is read: when they are, and that nothing is left where the guess was wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from grader import rooms
from grader.records import Limits
from grader.rooms import early, process
from grader.rooms.process import ProcessRoom

SOLUTION = Path(__file__).parent.parent / "solutions" / "lesson_10" / "harness.py"
LOCAL = ["--lesson", "10", "--runner", "local"]


@pytest.fixture(autouse=True)
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_SOCKET", "/nowhere/docker.sock")


@pytest.mark.parametrize(
    "words",
    [
        [*LOCAL, "harness.py"],
        ["grade", *LOCAL, "harness.py"],
        ["harness.py", "--lesson=10", "--runner=local"],
        ["--lesson", "10", "harness.py"],
        ["--lesson", "10", "--runner", "auto", "-"],
    ],
)
def test_a_grading_in_plain_processes_is_likely(words: list[str]) -> None:
    assert early.likely(words, {})


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["--version"],
        [*LOCAL, "--help"],
        ["harness.py"],
        ["--runner", "local", "harness.py"],
        ["batch", *LOCAL, "folder"],
        ["rules", "--lesson", "10"],
        ["--lesson", "10", "--runner", "docker", "harness.py"],
        ["--lesson", "10", "--config", "course.toml", "harness.py"],
    ],
)
def test_nothing_else_is(words: list[str]) -> None:
    assert not early.likely(words, {})


def test_the_environment_counts_and_what_is_typed_counts_more() -> None:
    known = {"LAB_CHECK_LESSON": "10", "LAB_CHECK_RUNNER": "local"}
    assert early.likely(["harness.py"], known)
    assert not early.likely(["harness.py", "--runner", "docker"], known)
    assert not early.likely(["--lesson", "10", "harness.py"], {"LAB_CHECK_RUNNER": "docker"})
    assert not early.likely(["--lesson", "10", "harness.py"], {"DOCKER_HOST": "tcp://engine"})


def test_an_engine_is_preferred_where_one_listens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "docker.sock").touch()
    monkeypatch.setattr(rooms, "_SOCKET", str(tmp_path / "docker.sock"))
    assert not early.likely(["--lesson", "10", "harness.py"], {})
    assert early.likely([*LOCAL, "harness.py"], {})


def test_they_are_handed_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def noting(role: str, opens: Callable[[], ProcessRoom]) -> ProcessRoom:
        opened.append(role)
        return opens()

    for role in ("judge", "stage"):
        opens = getattr(process, f"_{role}")
        monkeypatch.setattr(process, f"_{role}", partial(noting, role, opens))
    early.open_for([*LOCAL, "harness.py"])
    assert opened == ["judge"]
    first = rooms.choose("local", limits=Limits(), warn=print, ahead=True)
    assert opened == ["judge", "stage"]
    with closing(first), closing(rooms.choose("local", limits=Limits(), warn=print)) as second:
        assert second is not first
        first.open_judge().close()
        first.open_stage().close()
        assert opened == ["judge", "stage"]
        second.open_judge().close()
        assert opened == ["judge", "stage", "judge"]


@pytest.mark.parametrize(
    "words", [[*LOCAL, "--nonsense"], [*LOCAL, "nowhere.py"], [*LOCAL, "--watch", "-"]]
)
def test_a_call_that_is_off_leaves_no_process(words: list[str], tmp_path: Path) -> None:
    """A judge that was opened ahead has a folder of its own, which goes with it."""
    done = subprocess.run(
        [sys.executable, "-m", "grader", *words],
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode in (1, 2)
    assert b"Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_started_the_command_still_says_so_itself(tmp_path: Path) -> None:
    """No folder for temporary files: the guess must not be what ends the command."""
    gone = str(tmp_path / "gone")
    code = (
        "import tempfile, sys; tempfile._get_default_tempdir = lambda: 1 / 0\n"
        f"tempfile.mkdtemp = lambda **k: open({gone!r})\n"
        f"sys.argv = ['lab_check', *{LOCAL!r}, {str(SOLUTION)!r}]\n"
        "from grader.start import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3
    assert "nothing is held against the submission" in done.stderr
