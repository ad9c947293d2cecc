"""Walks up the stack and prints every local and global that it finds on the way."""

import sys


def _attack(messages):
    frame = sys._getframe()
    while frame is not None:
        for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
            text = str(name) + "=" + repr(value)
            if "expect" in text or "canary" in text or "test_" in text:
                print(text[:2000])
        frame = frame.f_back
    return _right_context(messages)
