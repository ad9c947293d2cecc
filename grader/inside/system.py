"""What the operating system offers for keeping a submission in.

Used where it exists, done without where it doesn't. Linux has all of it, macOS some, Windows none.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import time
from typing import Any

from grader.inside import syscalls

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

NOBODY = 65534
_OWN_UIDS = (
    1_000_000_000  # above any that are given to users: one for each stage, by its process id
)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_KEEPCAPS = 8
_CAP_DAC_READ_SEARCH = 2
_CAPSET_VERSION = 0x20080522
# Windows has neither the one nor the others.
_SIGKILL = getattr(signal, "SIGKILL", 9)
_CAN_REAP = all(hasattr(os, name) for name in ("killpg", "waitpid", "WNOHANG"))


def can_fork() -> bool:
    """Whether a process may be made out of this one.

    It can't be where the system has no such thing, and where LAB_CHECK_SPAWN=1 says that none is to be
    made, so that it can be tried what happens there.
    """
    return hasattr(os, "fork") and os.environ.get("LAB_CHECK_SPAWN", "0") in ("", "0")


def harden_stage() -> None:
    """Close this process to its own children: no ptrace, no /proc/self/mem, no privileges to gain.

    Also adopts orphans, so that a double fork can still be found and ended. No effect off Linux.
    """
    _one_right()  # what is the same for every cage is found out once, here
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def build_cage(memory_bytes: int) -> None:
    """Limit this process and all that come from it, as a process can still live with that plays nothing itself.

    Args:
        memory_bytes: of data; allocations past it raise MemoryError.
    """
    if resource is not None:
        _limit("RLIMIT_DATA", memory_bytes, memory_bytes)
        # The stacks of threads are reserved, not used.
        _limit("RLIMIT_AS", 4 * memory_bytes, 4 * memory_bytes)
        _limit("RLIMIT_FSIZE", 0, 0)
        _limit("RLIMIT_CORE", 0, 0)
        _limit("RLIMIT_NOFILE", 128, 128)
    if _libc is not None:
        syscalls.keep_to_oneself(_libc)


def enter_cage(*, cpu_s: float, processes: int | None) -> None:
    """Limit this process, which is about to run a submission, and give up what it does not need.

    Args:
        cpu_s: seconds of processor time; then SIGXCPU, and SIGKILL a second later.
        processes: more than are running under this user now; see `count_processes`. None in a
            container: the limit counts over all containers, and each has one of its own.
    """
    _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    _be_the_first_to_go()
    if is_root():
        _drop_root()
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)  # a change of uid clears it
    if resource is None:
        return
    whole = max(1, int(cpu_s))
    _limit("RLIMIT_CPU", whole, whole + 1)
    if processes is not None:
        _limit("RLIMIT_NPROC", processes, processes)


def _be_the_first_to_go() -> None:
    """When memory runs out, this process is ended and not the stage. Nothing of a submission runs yet."""
    _prctl(_PR_SET_DUMPABLE, 1)  # else the file is root's
    with contextlib.suppress(OSError):
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(file, b"1000")  # a text file would look for its codec on the disk, in every fork
        os.close(file)
    _prctl(_PR_SET_DUMPABLE, 0)


def out_of_memory_kills() -> int:
    """How often the kernel has ended a process of this container because its memory was used up.

    Read from the container's own counters, version 1 or 2; 0 outside of a container, where such a
    counter would be about the whole machine.
    """
    if os.getpid() == 1:
        for name in ("memory.events", "memory/memory.oom_control"):
            with (
                contextlib.suppress(OSError),
                open(f"/sys/fs/cgroup/{name}", encoding="ascii") as file,
            ):
                for line in file:
                    if line.startswith("oom_kill "):
                        return int(line.split()[1])
    return 0


def count_processes() -> int:
    """How many threads run under the uid that the cage will have; RLIMIT_NPROC counts them all.

    0 where that can't be told, and where the uid is one of the stage's own.
    """
    if is_root():
        return 0
    count, uid = 0, getattr(os, "getuid", lambda: 0)()
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    if entry.stat().st_uid == uid:
                        with open(f"{entry.path}/stat", encoding="utf-8", errors="replace") as file:
                            count += int(file.read().rpartition(")")[2].split()[17])
    return count


def processes_allowed(more: int) -> int | None:
    """What `enter_cage` takes as `processes`, for a cage in which `more` of them may run."""
    return None if os.getpid() == 1 else count_processes() + more


def spent_by_children_s() -> float:
    """Seconds of processor time of all children of this process that are gone; 0 where nobody counts."""
    if resource is None:
        return 0.0
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def is_root() -> bool:
    """Whether this process may do anything, which what it is about to run must not."""
    return bool(getattr(os, "geteuid", lambda: 1)() == 0)


def _drop_root() -> None:
    """Become a user of nobody's, who can signal no other process and write no other's file.

    Where only root can read Python's own library, the right to read (and no other) is kept: else the
    submission could not import a thing.
    """
    right = _one_right()
    if right is not None:
        _prctl(_PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    for uid in (_OWN_UIDS + os.getppid(), NOBODY):  # a user namespace may not have the first
        with contextlib.suppress(OSError):
            os.setgid(uid)
            os.setuid(uid)
            break
    if os.getuid() == 0:
        raise PermissionError("root could not be given up")
    if right is not None and _libc is not None:
        _libc.capset(*right)


@functools.cache
def _one_right() -> tuple[Any, Any] | None:
    """What `capset` takes for the right to read, where Python's own library is not everybody's to read."""
    if _libc is None or _readable_by_all(os.path.dirname(os.path.realpath(os.__file__))):
        return None
    right = 1 << _CAP_DAC_READ_SEARCH
    header = (ctypes.c_uint32 * 2)(_CAPSET_VERSION, 0)
    return header, (ctypes.c_uint32 * 6)(right, right, 0, 0, 0, 0)


def _readable_by_all(folder: str) -> bool:
    while os.stat(folder).st_mode & 0o001:
        above = os.path.dirname(folder)
        if above == folder:
            return True
        folder = above
    return False


def end_everything(child: int | None, patience_s: float = 5.0) -> None:
    """Kill every process that came from this one, and reap them.

    Args:
        child: the process started last; its group is killed where descendants can't be listed.
        patience_s: seconds after which a fork bomb that outruns this is left to the outer limits.

    Does nothing on Windows, where nobody knows what came from whom.
    """
    if not _CAN_REAP:
        return
    deadline = time.monotonic() + patience_s
    while not _childless(child):
        if os.getpid() == 1:
            # Everything else in this pid namespace came from a submission.
            with contextlib.suppress(OSError):
                os.kill(-1, _SIGKILL)
        else:
            for pid in _descendants(os.getpid()):
                with contextlib.suppress(OSError):
                    os.kill(pid, _SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(0.001)


def _childless(child: int | None) -> bool:
    """Reap what has ended. Whether nothing is left: on Linux, whatever lost its parent is a child of this."""
    if sys.platform != "linux" and child is not None:
        with contextlib.suppress(OSError):
            os.killpg(child, _SIGKILL)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _descendants(root: int) -> list[int]:
    found: list[int] = []
    todo = [root]
    while todo:
        pid = todo.pop()
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                    children = [int(word) for word in file.read().split()]
                found += children
                todo += children
    return found


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)


def _limit(name: str, soft: int, hard: int) -> None:
    which = getattr(resource, name, None)
    if which is not None:
        with contextlib.suppress(ValueError, OSError):
            ceiling = resource.getrlimit(which)[1]
            if ceiling != resource.RLIM_INFINITY:
                soft, hard = min(soft, ceiling), min(hard, ceiling)
            resource.setrlimit(which, (soft, hard))


_libc = None
if sys.platform == "linux":
    import ctypes

    with contextlib.suppress(OSError):
        _libc = ctypes.CDLL(None, use_errno=True)
