"""Finds the exception by which a scene ends and raises it with a fault of its own choice."""

import sys


def _attack(messages):
    frame = sys._getframe()
    while frame is not None:
        names = frame.f_globals
        if "StumbleError" in names and "SceneFault" in names:
            raise names["StumbleError"](names["SceneFault"]("scene", "scenes.py:1: KeyError: 'x'"))
        frame = frame.f_back
    raise AssertionError
