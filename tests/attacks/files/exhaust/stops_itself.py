"""Stopped by a signal: it is not running, and it has not ended."""

import os
import signal


def _attack(messages):
    os.kill(os.getpid(), signal.SIGSTOP)
