"""As `state_in_the_parent`, by way of the scheduler."""

import os

_STAGE = os.getppid()


def _attack(messages):
    assert os.getpriority(os.PRIO_PROCESS, 0) != 7, "seen again"
    for change in (lambda: os.setpriority(os.PRIO_PROCESS, _STAGE, 7),
                   lambda: os.sched_setscheduler(_STAGE, os.SCHED_BATCH, os.sched_param(0)),
                   lambda: os.sched_setaffinity(_STAGE, {max(os.sched_getaffinity(0))})):
        try:
            change()
        except OSError:
            pass
    return _right_context(messages)
