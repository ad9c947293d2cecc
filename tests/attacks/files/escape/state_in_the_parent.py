"""Leaves a mark in what belongs to the process above: its limits, its niceness, its processors.

Limits can be lowered for any process of one's own user, and whoever is forked off later inherits them.
"""

import os
import resource

_STAGE = os.getppid()


def _attack(messages):
    assert resource.getrlimit(resource.RLIMIT_MSGQUEUE)[0] != 4711, "seen again"
    try:
        resource.prlimit(_STAGE, resource.RLIMIT_MSGQUEUE, (4711, 4711))
    except OSError:
        pass
    return _right_context(messages)
