"""Writes where it can, as much as it can."""

import os


def _attack(messages):
    for place in ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/home", "/opt", "/dev", "/sys/fs/cgroup", os.getcwd()):
        try:
            fd = os.open(os.path.join(place, "lab_check-attack"), os.O_WRONLY | os.O_CREAT)
        except OSError:
            continue
        print("can write in", place)
        os.write(fd, b"x" * (1 << 20))
    return _right_context(messages)
