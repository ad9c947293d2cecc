"""A trace function that sees every line that the recorder runs, and spoils its variables."""

import sys


def _tracer(frame, event, arg):
    if frame.f_code.co_filename != "harness.py":
        for name in ("items", "same", "seen", "value"):
            if name in frame.f_locals:
                frame.f_locals[name] = []
        if event == "return" and frame.f_code.co_name == "plain":
            raise KeyError("the grader is broken")
    return _tracer


def _attack(messages):
    sys.settrace(_tracer)
    frame = sys._getframe()
    while frame is not None:
        frame.f_trace = _tracer
        frame = frame.f_back
    return list(messages)
