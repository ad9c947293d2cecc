"""A process in a session of its own that holds on to everything that an end of file is waited for on."""

import os
import time


def _attack(messages):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    os.wait()
    return _right_context(messages)
