"""Rooms opened before the command line is read: when they are, and that nothing is left where the guess was wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader import rooms
from grader.records import Limits
from grader.rooms import early, process
from grader.rooms.container import ContainerRooms
from grader.rooms.process import ProcessRoom
from tests.rooms.test_container_faults import owned_by

SOLUTION = Path(__file__).parent.parent / "solutions" / "lesson_10" / "harness.py"
LOCAL = ["--lesson", "10", "--runner", "local"]


@pytest.fixture(autouse=True)
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_SOCKET", "/nowhere/docker.sock")


FILE = str(SOLUTION)


@pytest.mark.parametrize(
    "words",
    [
        [*LOCAL, FILE],
        ["grade", *LOCAL, FILE],
        [FILE, "--lesson=10", "--runner=local"],
        ["--lesson", "10", FILE],
        ["--lesson", "10", "--runner", "auto", "-"],
    ],
)
def test_words_that_look_like_a_grading_in_plain_processes(words: list[str]) -> None:
    assert early.guess(words, {}) == "local"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["--version"],
        [*LOCAL, "--help"],
        [FILE],
        [*LOCAL, "nowhere.py"],
        [*LOCAL],
        ["--runner", "local", FILE],
        ["batch", *LOCAL, FILE],
        ["rules", "--lesson", "10"],
        ["--lesson", "10", "--runner", "moon", FILE],
        ["--lesson", "10", "--config", "course.toml", FILE],
        ["--lesson", "10", "--config=course.toml", FILE],
        [*LOCAL, "--timeout=5", FILE],
    ],
)
def test_words_of_which_nothing_is_guessed(words: list[str]) -> None:
    assert early.guess(words, {}) == ""


def test_the_environment_counts_and_what_is_typed_counts_more() -> None:
    known = {"LAB_CHECK_LESSON": "10", "LAB_CHECK_RUNNER": "local"}
    assert early.guess([FILE], known) == "local"
    assert early.guess([FILE, "--runner", "docker"], known) == "docker"
    assert early.guess(["--lesson", "10", FILE], {"LAB_CHECK_RUNNER": "docker"}) == "docker"
    assert early.guess(["--lesson", "10", FILE], {"DOCKER_HOST": "tcp://engine"}) == "docker"


def test_an_engine_is_preferred_where_one_listens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "docker.sock").touch()
    monkeypatch.setattr(rooms, "_SOCKET", str(tmp_path / "docker.sock"))
    assert early.guess(["--lesson", "10", FILE], {}) == "docker"
    assert early.guess([*LOCAL, FILE], {}) == "local"


def test_they_are_handed_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def noting(role: str, opens: Callable[[], ProcessRoom]) -> ProcessRoom:
        opened.append(role)
        return opens()

    for role in ("judge", "stage"):
        opens = getattr(process, f"_{role}")
        monkeypatch.setattr(process, f"_{role}", partial(noting, role, opens))
    early.open_for([*LOCAL, FILE])
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
    "words", [[*LOCAL, FILE, "--nonsense"], [*LOCAL, "nowhere.py"], [*LOCAL, "--watch", "-"]]
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


def containers_of(words: list[str]) -> tuple[int, list[dict[str, Any]]]:
    """A command's exit status, and the containers of its own that are there when it has ended."""
    with subprocess.Popen(
        [sys.executable, "-m", "grader", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as command:
        command.communicate(timeout=60)
    return command.returncode, owned_by(command.pid)


@pytest.mark.docker
@pytest.mark.usefixtures("containers")
@pytest.mark.parametrize(
    ("more", "status"), [([], 0), (["--nonsense"], 2), (["--test", "nope"], 2), (["--watch"], 2)]
)
def test_no_container_is_left_whether_it_was_wanted_or_not(more: list[str], status: int) -> None:
    file = "-" if "--watch" in more else FILE
    words = ["--lesson", "10", "--runner", "docker", *more, file]
    assert early.guess(words, {}) == "docker"
    assert containers_of(words) == (status, [])


@pytest.mark.docker
@pytest.mark.usefixtures("containers")
def test_containers_that_were_opened_early_are_the_ones_that_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rooms, "_SOCKET", "/var/run/docker.sock")
    early.open_for(["--lesson", "10", "--runner", "docker", FILE])
    with closing(rooms.choose("docker", limits=Limits(), warn=print, ahead=True)) as used:
        assert isinstance(used, ContainerRooms)
        assert [room._role for room in used._rooms] == ["judge", "stage"]
        used.open_stage()
        used.open_judge()
        assert len(used._rooms) == 2
    early.open_for(["--lesson", "10", "--runner", "docker", FILE])
    other = Limits(processes=9)
    with closing(rooms.choose("docker", limits=other, warn=print, ahead=True)) as used:
        assert isinstance(used, ContainerRooms)
        assert used._limits == other
    early.close()
