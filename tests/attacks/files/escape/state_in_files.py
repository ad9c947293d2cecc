"""Leaves a mark wherever a file, a queue or a name can be left, and looks for the last one's."""

import ctypes
import os
import socket
import struct

_libc = ctypes.CDLL(None, use_errno=True)
for _place in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock", "/", "/dev", "/proc/self"):
    try:
        os.close(os.open(f"{_place}/been-here", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except OSError:
        continue
    raise AssertionError(f"left a file in {_place}")
assert _libc.shmget(0x1EF7, 4096, 0o1666) < 0
assert _libc.msgget(0x1EF7, 0o1666) < 0
assert _libc.semget(0x1EF7, 1, 0o1666) < 0
assert _libc.syscall(240, b"been-here", 0o102, 0o666, None) < 0  # mq_open
assert _libc.syscall(248, b"user", b"been-here", b"x", 1, -4) < 0  # add_key, to the user's keyring
_socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
_socket.bind("\0been-here")  # fails if the last scene's is still there
if os.fork() == 0:  # somebody has to keep it
    os.setsid()
    if os.fork() == 0:
        import time

        time.sleep(600)
    os._exit(0)
