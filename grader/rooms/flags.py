"""What a container may do: every flag of a room, from one pure function.

What is tested is what is used: nothing else in the program decides how a container is sealed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from grader.program import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.carried import Limits

Role = Literal["stage", "judge"]

ROOT = "/opt/lab_check"  # where an image holds what is ours
UID = 65534

# System V IPC and message queues outlive the process that made them: memory for the next scene.
_SYSCTLS = {
    "kernel.shmall": "0",
    "kernel.shmmni": "0",
    "kernel.msgmni": "0",
    "kernel.sem": "0 0 0 0",
    "fs.mqueue.queues_max": "0",
}
_OPEN_FILES = 256
_JUDGE_TMP = "rw,noexec,nosuid,nodev,size=4m,mode=1777"  # pytest wants a test module that is a file

# Which of the flags describe the container; the others describe how its host treats it.
CONFIG = frozenset(
    {"entrypoint", "command", "user", "environment", "labels", "working_dir", "hostname"}
    | {"stdin_open", "network_disabled"}
)


def command(role: Role) -> list[str]:
    """How a room's program is started: no site-packages, no environment, no bytecode written."""
    folders = [f"{ROOT}/grader", ROOT]
    if role == "judge":
        folders.append(f"{ROOT}/site")  # hidden tests need theirs
    return ["python3", "-B", *words(role, folders, keep_path=role == "judge")]


def container_flags(
    role: Role,
    limits: Limits,
    *,
    labels: Mapping[str, str],
    program: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Every flag that a room's container is created with, by the names of the `docker` SDK.

    Args:
        role: the stage has no writable path at all; the judge has 4 MiB on /tmp.
        limits: memory in bytes, processes, and CPUs.
        labels: by which the container is known; see `sweeping`.
        program: what to run as its PID 1, if not the room's own program.
    """
    return {
        "entrypoint": list(program or command(role)),
        "command": [],
        "user": f"{UID}:{UID}",
        "environment": {},
        "labels": dict(labels),
        "working_dir": "/",
        "hostname": "room",
        "stdin_open": True,
        "network_disabled": True,
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "ipc_mode": "none",
        "sysctls": dict(_SYSCTLS),
        "tmpfs": {"/tmp": _JUDGE_TMP} if role == "judge" else {},  # noqa: S108 - of the container
        "log_config": {"type": "none", "config": {}},
        "ulimits": [
            {"name": "core", "soft": 0, "hard": 0},
            {"name": "nofile", "soft": _OPEN_FILES, "hard": _OPEN_FILES},
        ],
        "mem_limit": limits.memory_bytes,
        "memswap_limit": limits.memory_bytes,  # memory and swap together, so: no swap
        "pids_limit": limits.processes,
        "nano_cpus": int(limits.cpus * 1_000_000_000),
        "init": False,  # PID 1 is the room's own program: what it can't be told from inside is a signal
    }
