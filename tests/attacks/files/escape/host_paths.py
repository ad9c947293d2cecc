"""Paths that lead out where a room has a hole: the engine's socket, disks, other roots."""

import glob
import os

for _path in ("/var/run/docker.sock", "/run/docker.sock", "/host", "/mnt/host", "/.dockerenv/..", "/dev/mem",
              "/dev/kmsg", "/dev/sda", "/dev/vda", "/proc/kcore", "/proc/kallsyms", "/proc/sysrq-trigger",
              "/sys/firmware/efi", "/sys/kernel/debug", "/proc/1/root/etc/shadow", "/etc/shadow", "/root/.ssh",
              "/sys/fs/cgroup/release_agent", "/proc/sys/kernel/core_pattern"):
    try:
        os.open(_path, os.O_RDWR if not os.path.isdir(_path) else os.O_RDONLY)
    except OSError:
        continue
    assert _path.endswith("..") or not os.listdir(_path), _path
for _line in open("/proc/self/mountinfo"):
    _root, _where = _line.split()[3:5]
    assert not _root.startswith(("/home", "/work", "/srv")), _line
assert not glob.glob("/home/*") and os.path.isdir("/work") is False
