"""The doctor: every line good where every flag is kept, and a bad one wherever a flag is not."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from grader.rooms import doctor
from grader.rooms.flags import container_flags

if TYPE_CHECKING:
    from collections.abc import Callable

LINES = ["engine", "image", "network", "writing", "privileges", "shared memory", "files"]
LINES += ["memory", "processes", "CPU", "frame size", "observation", "deadline"]

# A flag, what becomes of it when somebody takes it away, and the line that has to say so.
TAKEN_AWAY: dict[str, tuple[dict[str, Any], str]] = {
    "network": ({"network_mode": "host", "network_disabled": False, "sysctls": {}}, "network"),
    "read_only": ({"read_only": False}, "writing"),
    "tmpfs": ({"tmpfs": {"/tmp": "size=1m,mode=1777"}}, "writing"),
    "user": ({"user": "0:0"}, "privileges"),
    "cap_drop": ({"cap_drop": []}, "privileges"),
    "security_opt": ({"security_opt": []}, "privileges"),
    "init": ({"init": True}, "privileges"),
    "ipc_mode": ({"ipc_mode": "private"}, "shared memory"),
    "sysctls": ({"sysctls": {}}, "shared memory"),
    "ulimits": ({"ulimits": []}, "files"),
    "mem_limit": ({"mem_limit": None, "memswap_limit": None}, "memory"),
    "pids_limit": ({"pids_limit": None}, "processes"),
    "nano_cpus": ({"nano_cpus": None}, "CPU"),
}


def without(changes: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    return lambda *args, **options: {**container_flags(*args, **options), **changes}


@pytest.mark.docker
def test_every_line_is_good() -> None:
    found = list(doctor.examine())
    assert [line.name for line in found] == LINES
    assert [line for line in found if line.good is False] == []
    assert all(line.message.endswith(".") for line in found)
    assert [line.name for line in found if line.good is None] in ([], ["CPU"])


@pytest.mark.docker
@pytest.mark.parametrize("flag", TAKEN_AWAY)
def test_a_flag_that_is_ignored_is_noticed(flag: str) -> None:
    changes, line = TAKEN_AWAY[flag]
    said = [found for found in doctor.examine(flags=without(changes)) if found.good is not True]
    assert line in [found.name for found in said], said
    assert all(found.help for found in said if found.good is False)


@pytest.mark.docker
def test_a_container_that_can_not_be_made_is_a_line() -> None:
    found = list(doctor.examine(flags=without({"sysctls": {"kernel.hostname": "x"}})))
    assert [line.good for line in found[:2]] == [True, True]
    assert not any(line.good for line in found[2:])
    assert "could not be tried" in found[2].message


@pytest.mark.docker
def test_without_an_image_it_stops_there() -> None:
    *_, last = doctor.examine("lab-check-no-such-image")
    assert (last.name, last.good, last.help) == ("image", False, "Build it: lab_check image build.")


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_it_stops_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    (only,) = doctor.examine()
    assert (only.name, only.good) == ("engine", False)
    assert only.help


def test_a_finding_is_a_record() -> None:
    found = doctor.Finding("memory", True, "It holds.")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.good = False  # type: ignore[misc]
