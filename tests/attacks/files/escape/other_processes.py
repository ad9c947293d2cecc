"""Signals, traces and reads whatever process is not its own."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_others = [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) not in (os.getpid(), os.getppid(), 1)]
for _process in _others:
    try:
        os.kill(_process, 0)
    except OSError:
        continue
    raise AssertionError(f"could signal {_process}")
for _process in {1, os.getppid()}:
    assert _libc.ptrace(16, _process, 0, 0) == -1
    assert _libc.syscall(438, os.pidfd_open(_process), 1, 0) == -1  # pidfd_getfd
    for _name in ("mem", "fd", "environ", "maps", "oom_score_adj"):
        try:
            if os.path.isdir(f"/proc/{_process}/{_name}"):
                os.listdir(f"/proc/{_process}/{_name}")
            else:
                open(f"/proc/{_process}/{_name}", "r+b").close()
        except OSError:
            continue
        raise AssertionError(_name)
