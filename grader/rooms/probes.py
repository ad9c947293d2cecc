"""Runs in a container in the place of a room's program, and tries out what its limits are worth.

`doctor` hands this file's text to the container's Python, with the name of a probe and a number. It says
what it found in one frame, and judges nothing. It imports nothing of ours: it has to run as it stands.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

_CHUNK = 8 << 20
_IPC_PRIVATE = 0
_NEW = 0o1600  # make one, for its owner


def look(_: int) -> dict[str, Any]:
    """What can be seen and tried without using anything up."""
    status = {}
    for line in Path("/proc/self/status").read_text(errors="replace").splitlines():
        name, _colon, value = line.partition(":")
        status[name] = value.strip()
    return {
        "uid": os.getuid(),
        "gid": os.getgid(),
        "pid": os.getpid(),
        "capabilities": int(status.get("CapEff", "0"), 16) | int(status.get("CapBnd", "0"), 16),
        "no_new_privs": status.get("NoNewPrivs") == "1",
        "core": resource.getrlimit(resource.RLIMIT_CORE)[1],
        "interfaces": sorted(set(_listed("/sys/class/net")) - {"lo"}),
        "connected": _connect(),
        "writable": _writable(),
        "shared": _shared(),
        "open_files": _open_files(),
    }


def memory(limit: int) -> dict[str, Any]:
    """Use up to twice `limit` bytes, in a child that is the first to be ended."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
        kept = []
        for _ in range(2 * limit // _CHUNK):
            kept.append(b"\1" * _CHUNK)  # written to, so that it is really there
            os.write(into, b".")
        os._exit(0)
    os.close(into)
    chunks = 0
    while data := os.read(out, 4096):
        chunks += len(data)
    return {"bytes": chunks * _CHUNK, "signal": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}


def processes(limit: int) -> dict[str, Any]:
    """Start up to four times `limit` processes that do nothing."""
    started = []
    try:
        for _ in range(4 * limit):
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            started.append(child)
    except OSError:
        pass
    for child in started:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return {"count": len(started) + 1}


def cpu(_: int) -> dict[str, Any]:
    """Keep every processor busy for a second; tell how many were had, and whether it was held back."""
    held_back = _held_back()
    cores = len(os.sched_getaffinity(0))
    began = time.monotonic()
    children = []
    for _ in range(min(cores, 8)):
        child = os.fork()
        if child == 0:
            while time.monotonic() < began + 1:
                pass
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    used = os.times()
    return {
        "cores": cores,
        "held_back": _held_back() > held_back,
        "used": (used.children_user + used.children_system) / (time.monotonic() - began),
    }


def flood(_: int) -> None:
    """Announce a frame of four gigabytes and begin to send it."""
    with contextlib.suppress(OSError):
        os.write(1, b"\xff" * 4)
        while True:
            os.write(1, b" " * 65536)


def _held_back() -> int:
    """How often this container had to wait for its next share of time; as its own counter says."""
    for name in ("cpu.stat", "cpu/cpu.stat", "cpu,cpuacct/cpu.stat"):
        with contextlib.suppress(OSError):
            for line in (Path("/sys/fs/cgroup") / name).read_text(encoding="ascii").splitlines():
                if line.startswith("nr_throttled "):
                    return int(line.split()[1])
    return 0


def _listed(folder: str) -> list[str]:
    try:
        return [path.name for path in Path(folder).iterdir()]
    except OSError:
        return []


def _connect() -> bool:
    """Whether there is a way out: to an address that is reserved for examples, so nobody is bothered."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(("192.0.2.1", 9))
        except OSError:
            return False
        return True


def _writable() -> list[str]:
    found = []
    for folder, folders, _files in os.walk("/"):
        if folder == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys")]
        path = Path(folder) / f".lab_check-{os.getpid()}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            path.unlink()
        except OSError:
            continue
        found.append(folder)
    return found[:10]


def _shared() -> list[str]:
    """Which kinds of memory that outlive a process can be had."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = ["shared memory"] if libc.shmget(_IPC_PRIVATE, 4096, _NEW) >= 0 else []
    found += ["message queues"] if libc.msgget(_IPC_PRIVATE, _NEW) >= 0 else []
    found += ["semaphores"] if libc.semget(_IPC_PRIVATE, 1, _NEW) >= 0 else []
    found += ["/dev/shm"] if Path("/dev/shm").is_dir() else []  # noqa: S108 - of the container
    if hasattr(libc, "mq_open"):
        name = b"/lab_check"
        if libc.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None) >= 0:
            libc.mq_unlink(name)
            found.append("POSIX message queues")
    return found


def _open_files() -> int:
    opened: list[int] = []
    with contextlib.suppress(OSError):
        while len(opened) < 5000:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    for fd in opened:
        os.close(fd)
    return len(opened)


def main() -> None:
    """Run the probe that the command line names; send what it found as one frame."""
    probe = {f.__name__: f for f in (look, memory, processes, cpu, flood)}[sys.argv[1]]
    body = json.dumps(probe(int(sys.argv[2]))).encode("ascii")
    os.write(1, struct.pack(">I", len(body)) + body)


if __name__ == "__main__":
    main()
