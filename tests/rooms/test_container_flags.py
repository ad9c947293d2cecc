"""The flags of a container are one value, and each is there for a reason that `test_doctor` trips."""

from __future__ import annotations

import compileall
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.records import Limits
from grader.rooms.flags import CONFIG, ROOT, command, container_flags

if TYPE_CHECKING:
    from grader.rooms.flags import Role

LIMITS = Limits(memory_bytes=100 << 20, processes=7, cpus=0.5)
LABELS = {"a": "b"}
BOTH: list[Role] = ["stage", "judge"]


@pytest.mark.parametrize("role", BOTH)
def test_what_seals_a_room(role: Role) -> None:
    flags = container_flags(role, LIMITS, labels=LABELS)
    assert flags["network_mode"] == "none"
    assert flags["network_disabled"] is True
    assert flags["read_only"] is True
    assert flags["cap_drop"] == ["ALL"]
    assert flags["security_opt"] == ["no-new-privileges:true"]
    assert flags["user"] == "65534:65534"
    assert flags["ipc_mode"] == "none"
    assert flags["log_config"] == {"type": "none", "config": {}}
    assert flags["init"] is False
    assert flags["labels"] == LABELS
    assert flags["environment"] == {}


@pytest.mark.parametrize("role", BOTH)
def test_what_a_room_may_use_comes_from_the_limits(role: Role) -> None:
    flags = container_flags(role, LIMITS, labels=LABELS)
    assert flags["mem_limit"] == flags["memswap_limit"] == 100 << 20
    assert flags["pids_limit"] == 7
    assert flags["nano_cpus"] == 500_000_000
    assert {entry["name"]: entry["hard"] for entry in flags["ulimits"]} == {
        "core": 0,
        "nofile": 256,
    }
    assert set(flags["sysctls"]) == {
        "kernel.shmall",
        "kernel.shmmni",
        "kernel.msgmni",
        "kernel.sem",
        "fs.mqueue.queues_max",
    }
    assert set("".join(flags["sysctls"].values())) == {"0", " "}


def test_only_the_judge_has_a_place_to_write_to() -> None:
    assert container_flags("stage", LIMITS, labels=LABELS)["tmpfs"] == {}
    places = container_flags("judge", LIMITS, labels=LABELS)["tmpfs"]
    assert list(places) == ["/tmp"]
    assert "size=4m" in places["/tmp"]
    assert "noexec" in places["/tmp"]


@pytest.mark.parametrize("role", BOTH)
def test_nothing_of_the_host_is_mounted_and_nothing_is_shared(role: Role) -> None:
    flags = container_flags(role, LIMITS, labels=LABELS)
    assert not {"binds", "mounts", "volumes", "volumes_from", "devices", "privileged"} & set(flags)
    assert not {"pid_mode", "cap_add", "auto_remove", "userns_mode"} & set(flags)


def test_the_flags_are_pure() -> None:
    first = container_flags("stage", LIMITS, labels=LABELS)
    first["cap_drop"].clear()
    first["sysctls"].clear()
    assert container_flags("stage", LIMITS, labels=LABELS)["cap_drop"] == ["ALL"]
    assert container_flags("stage", LIMITS, labels=LABELS)["sysctls"]
    assert set(first) > CONFIG


@pytest.mark.parametrize("role", BOTH)
def test_a_room_starts_with_a_clean_interpreter(role: Role) -> None:
    program = command(role)
    assert program[:5] == ["python3", "-B", "-I", "-S", "-c"]
    assert ROOT in program[5]
    assert f"grader.inside.{role}" in program[5]
    assert ("/site" in program[5]) is (role == "judge")
    compile(program[5], "start", "exec")


def test_another_program_may_take_the_place_of_a_rooms_own() -> None:
    flags = container_flags("stage", LIMITS, labels=LABELS, program=["true"])
    assert flags["entrypoint"] == ["true"]
    assert flags["command"] == []


def test_the_probes_stand_alone(tmp_path: Path) -> None:
    import grader.rooms

    source = Path(grader.rooms.__file__).with_name("probes.py")
    assert compileall.compile_file(source, ddir=str(tmp_path), quiet=1, legacy=False)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", source.read_text(encoding="utf-8"), "cpu", "0"],
        capture_output=True,
        check=True,
    )
    assert b'"cores"' in done.stdout
