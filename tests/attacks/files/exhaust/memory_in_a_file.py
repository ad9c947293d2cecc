"""Memory that has a name: files that live in memory, grown until something gives."""

import os


def _attack(messages):
    kept = []
    while True:
        fd = os.memfd_create("x")
        kept.append(fd)
        for _ in range(64):
            os.write(fd, b"x" * (1 << 20))
