"""Asks for privileges in every way there is."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
for _flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000, 0x04000000):  # namespaces: user, mount, net, …
    assert _libc.unshare(_flag) == -1, hex(_flag)
for _call in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.chroot("/"), lambda: os.nice(-1),
              lambda: os.mknod("/dev/x", 0o20600, os.makedev(1, 1)), lambda: os.chmod("/etc/passwd", 0o666)):
    try:
        _call()
    except OSError:
        continue
    raise AssertionError("allowed")
assert _libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == -1
for _number in (321, 298, 425, 323, 248, 250, 175, 246, 169):  # bpf perf io_uring userfaultfd keys modules reboot
    assert _libc.syscall(_number, 0, 0, 0, 0, 0) == -1, _number
