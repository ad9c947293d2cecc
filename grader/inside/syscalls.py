"""A filter for system calls: what is asked about a process has to be asked about one's own.

In a container the stage and the process that runs a submission belong to one user, and to Linux that is
reason enough to let the one set the other's limits, priority and processors: taking the stage's last second
of processor time ends it from inside, which looks like a fault of the engine's; anything else stays for the
next scene to find. None of these calls is needed for a process other than the one that calls.
"""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any, NamedTuple

_PR_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _NOT_PERMITTED = 0x7FFF0000, 0x00050001
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where they stand in what a filter is shown
_X32 = 0x40000000  # other numbers for the same calls, on x86_64


class _Calls(NamedTuple):
    """An architecture's name to a filter, and its numbers of the calls."""

    architecture: int
    prlimit: int
    sched_setaffinity: int
    sched_setscheduler: int
    sched_setparam: int
    sched_setattr: int
    setpriority: int
    ioprio_set: int


_CALLS = {
    "x86_64": _Calls(0xC000003E, 302, 203, 144, 142, 314, 141, 251),
    "aarch64": _Calls(0xC00000B7, 261, 122, 119, 118, 274, 140, 30),
}


def keep_to_oneself(libc: Any) -> bool:
    """Close this process, and what comes from it, off from the calls above. Can't be taken back.

    Args:
        libc: the C library. No new privileges may be had any more, else the kernel refuses.

    Returns:
        False where this machine's calls are not known, or the kernel has no filters.
    """
    code = program_here()
    if not code:
        return False
    steps = ctypes.create_string_buffer(code)
    # A struct sock_fprog: how many steps, padding, where they are.
    whole = struct.pack("@HP", len(code) // 8, ctypes.addressof(steps))
    return bool(libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(whole), 0, 0) == 0)


def program_here() -> bytes:
    """The filter for this machine; b"" where its calls are not known."""
    calls = _CALLS.get(os.uname().machine) if hasattr(os, "uname") else None
    return program(calls) if calls is not None else b""


def program(calls: _Calls) -> bytes:
    """The filter, in the kernel's own code; eight bytes a step."""
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, calls.architecture, then=1),
        _step(_RETURN, _NOT_PERMITTED),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, otherwise=1),
        _step(_RETURN, _NOT_PERMITTED),
    ]
    # The first argument is a process, and 0 is one's own …
    for number in calls[1:6]:
        steps += _only(number, (0,))
    # … or says what kind of thing the second is: a process, and 0 again.
    steps += _only(calls.setpriority, (os.PRIO_PROCESS, 0)) + _only(calls.ioprio_set, (1, 0))
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _only(number: int, arguments: tuple[int, ...]) -> list[bytes]:
    """Refuse a call, unless it has these first arguments."""
    checks = []
    for at, value in enumerate(arguments):
        checks += [
            _step(_LOAD, _ARGUMENTS + 8 * at),  # its lower half: all of them are ints
            _step(_EQUAL, value, then=1),
            _step(_RETURN, _NOT_PERMITTED),
        ]
    allowed = _step(_RETURN, _ALLOW)
    return [_step(_EQUAL, number, otherwise=len(checks) + 1), *checks, allowed]


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("@HBBI", code, then, otherwise, value)
