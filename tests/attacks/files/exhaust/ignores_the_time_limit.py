"""Ignores the signal that says that the processor time is used up, and everything else."""

import signal

for _number in range(1, 65):
    try:
        signal.signal(_number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def _attack(messages):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
