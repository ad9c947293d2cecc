"""No engine, one that refuses, a full disk: each has its own words and says what to do. And sweeping."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
import types
from typing import TYPE_CHECKING, Any

import pytest

from grader.errors import RoomError
from grader.rooms import engine as engines
from grader.rooms import sweeping
from grader.rooms.container import ContainerRooms
from grader.rooms.engine import Engine, explained

if TYPE_CHECKING:
    from pathlib import Path

docker = pytest.importorskip("docker")


def answered(status: int, words: str) -> Exception:
    """An error as the SDK raises it when the engine has answered."""
    response = types.SimpleNamespace(status_code=status, url="http", reason="")
    error: Exception = docker.errors.APIError("refused", response=response, explanation=words)
    return error


@pytest.mark.parametrize(
    ("error", "says", "advises"),
    [
        (PermissionError(13, "Permission denied"), "refuses this user", "group"),
        (FileNotFoundError(2, "No such file"), "No container engine answers", "Start Docker"),
        (ConnectionRefusedError(111, "refused"), "No container engine answers", "--runner local"),
        (answered(500, "mkdir /var/lib: no space left on device"), "disk is full", "prune"),
        (answered(404, "No such image: lab"), "An image is missing", "lab_check image build"),
        (answered(400, "invalid sysctl"), "refused: invalid sysctl.", "doctor"),
        (TimeoutError("timed out"), "did not answer in time", "doctor"),
    ],
)
def test_an_error_says_what_to_do(error: Exception, says: str, advises: str) -> None:
    told = explained(error)
    assert told.reason == "open"
    assert says in told.message
    assert advises in told.help


def test_the_cause_is_found_however_deep_it_is_wrapped() -> None:
    inner = PermissionError(13, "Permission denied")
    outer = docker.errors.DockerException("no version", ("aborted", inner))
    assert "refuses this user" in explained(outer).message


def test_the_systems_own_words_are_told() -> None:
    inner = ConnectionRefusedError(111, "Connection refused")
    outer = docker.errors.DockerException("no version", ("aborted", inner))
    assert "connection refused (" in explained(outer).message


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("unix:///nowhere/docker.sock", "No container engine answers"),
        ("tcp://127.0.0.1:9", "No container engine answers"),
        ("nonsense://x", "No container engine answers"),
    ],
)
@pytest.mark.usefixtures("no_engine")
def test_no_engine(monkeypatch: pytest.MonkeyPatch, address: str, says: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    with pytest.raises(RoomError, match=says) as told:
        ContainerRooms()
    assert told.value.reason == "open"
    assert told.value.help


@pytest.mark.usefixtures("no_engine")
def test_a_socket_of_somebody_elses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("socket.socket.connect", refuse)
    with pytest.raises(RoomError, match="refuses this user"):
        Engine()


def test_without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    with pytest.raises(RoomError, match="not installed") as told:
        Engine()
    assert "pip install" in told.value.help


def test_removing_what_is_gone_or_going_is_fine() -> None:
    for error in (
        answered(404, "No such container"),
        answered(409, "removal of container abc is already in progress"),
    ):
        engines.remove(_Failing(error), "abc")
    with pytest.raises(docker.errors.APIError):
        engines.remove(_Failing(answered(500, "driver failed")), "abc")


class _Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def remove_container(self, *_: Any, **__: Any) -> None:
        raise self.error


# --- sweeping --------------------------------------------------------------------------------------


def labelled(**changes: str) -> dict[str, str]:
    return {**sweeping.labels("run", 60), **changes}


def gone() -> sweeping.Owner:
    """A process of this machine that has ended."""
    done = subprocess.Popen([sys.executable, "-c", "pass"])
    done.wait()
    return dataclasses.replace(sweeping.this_process(), pid=done.pid, started="1")


def test_what_is_a_leftover() -> None:
    now, us = time.time(), sweeping.this_process()
    elsewhere = dataclasses.replace(gone(), host="another-machine")
    reused = dataclasses.replace(us, started="1")
    judged = {
        "ours, running": labelled(),
        "past its deadline": labelled(**{sweeping.DEADLINE: str(int(now) - 1)}),
        "no deadline": labelled(**{sweeping.DEADLINE: ""}),
        "owner gone": labelled(**{sweeping.OWNER: str(gone())}),
        "number used again": labelled(**{sweeping.OWNER: str(reused)}),
        "owner on another machine": labelled(**{sweeping.OWNER: str(elsewhere)}),
        "no owner": labelled(**{sweeping.OWNER: "nobody"}),
        "somebody else's": {sweeping.DEADLINE: "1"},
    }
    assert [name for name, labels in judged.items() if sweeping.is_leftover(labels, now)] == [
        "past its deadline",
        "no deadline",
        "owner gone",
        "number used again",
        "no owner",
    ]


def test_an_owner_can_be_read_back() -> None:
    us = sweeping.this_process()
    assert us.pid == os.getpid()
    assert sweeping.Owner.parse(str(us)) == us
    assert sweeping.Owner.parse("a b c") is None


def test_an_owner_is_known_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "Path", _nowhere)
    assert sweeping._alive(sweeping.this_process())
    ended = gone()
    assert not sweeping._alive(ended)
    monkeypatch.setattr(sweeping, "os", types.SimpleNamespace(name="nt"))
    assert sweeping._alive(ended)  # left to its deadline


def _nowhere(path: str) -> Any:
    from pathlib import Path

    return Path("/nowhere") / str(path).lstrip("/")
