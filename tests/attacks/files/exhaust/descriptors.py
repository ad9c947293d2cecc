"""Every descriptor that can be had."""

import os


def _attack(messages):
    try:
        while True:
            os.dup(0)
    except OSError:
        pass
    return _right_context(messages)
