"""Shared memory, which the limit of a process does not see."""

import mmap


def _attack(messages):
    shared = mmap.mmap(-1, 700 << 20)
    for at in range(0, 700 << 20, 4096):
        shared[at] = 1
