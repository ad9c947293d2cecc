"""Processes that each take what one may take."""

import os
import time


def _attack(messages):
    for _ in range(40):
        if os.fork() == 0:
            kept = []
            try:
                while True:
                    kept.append(bytearray(b"x" * (1 << 20)))
            except MemoryError:
                time.sleep(60)
    time.sleep(60)
