"""What a hostile submission tries, and what of it worked. Run in containers only, never on a host.

The test puts this behind a finished lab and has `attack(9)` called when the file is imported.
"""
# Written as such files are.
# ruff: noqa: PTH106, PTH118, PTH123, PTH208

import ctypes
import os
from collections.abc import Callable, Iterator

HOLDS = ("/autograder", "/opt", "/root", "/home", "/srv", "/run", "/tmp", "/var/tmp")
ANYBODYS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")
RESULTS = "/autograder/results/results.json"
BY_NAME = (RESULTS, "/autograder/source/lab_check/settings.json", "/autograder/run_autograder")
WRITTEN = (RESULTS, f"{RESULTS}.partial", "/autograder/run_autograder", "/autograder/x", "/etc/x")
ATTACH, DETACH = 16, 17


def attack(signal: int) -> list[str]:
    """Everything below. `signal` goes to every process but this one."""
    return [*read(), *others(), *write(), *rise(), *kill(signal)]


def read() -> Iterator[str]:
    """Files of the grader's, or of anybody's that hold what only the tests know."""
    for top in HOLDS:
        for folder, _, names in os.walk(top):
            for path in (os.path.join(folder, name) for name in names):
                if worked(open, path) and (top == "/autograder" or knows(path)):
                    yield f"read {path}"
    for path in BY_NAME:
        if worked(open, path):
            yield f"read {path}"
    for path in ("/autograder", "/autograder/submission", "/autograder/source"):
        if worked(os.listdir, path):
            yield f"listed {path}"


def knows(path: str) -> bool:
    """Whether a file holds the name of a wrong answer."""
    with open(path, "rb") as file:
        return b"newest-wins" in file.read(1 << 20)


def others() -> Iterator[str]:
    """What other processes hold."""
    for pid in pids():
        for name in ("environ", "mem", "maps"):
            if worked(open, f"/proc/{pid}/{name}"):
                yield f"opened {name}"
        for name in ("fd", "cwd", "root"):
            if worked(os.listdir, f"/proc/{pid}/{name}"):
                yield f"listed {name}"
        if ctypes.CDLL(None).ptrace(ATTACH, pid, 0, 0) == 0:
            ctypes.CDLL(None).ptrace(DETACH, pid, 0, 0)
            yield "traced"


def write() -> Iterator[str]:
    """Results, the grader's folders, and whatever is left for the next scene to find."""
    for path in WRITTEN:
        if worked(open, path, "ab"):
            yield f"wrote {path}"
    if worked(os.chmod, "/autograder/results", 0o777):
        yield "changed modes"
    for folder in ANYBODYS:
        if worked(os.mkdir, f"{folder}/left"):
            os.rmdir(f"{folder}/left")
            yield f"made a folder in {folder}"


def rise() -> Iterator[str]:
    """Become root again."""
    if worked(os.setuid, 0):
        yield "became root"
    if worked(os.chroot, "/"):
        yield "changed its root"


def kill(signal: int) -> Iterator[str]:
    """Other processes."""
    for pid in pids():
        if worked(os.kill, pid, signal):
            yield f"signalled {pid}"


def pids() -> list[int]:
    """Of every process but this one."""
    found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in found if pid != os.getpid()]


def worked(action: Callable[..., object], *args: object) -> bool:
    """Whether an action was not refused."""
    try:
        action(*args)
    except OSError:
        return False
    return True
