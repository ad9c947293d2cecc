"""The source of every frame above, as a traceback would show it."""

import inspect
import sys
import traceback


def _attack(messages):
    traceback.print_stack(file=sys.stdout)
    frame = sys._getframe()
    while frame is not None:
        try:
            print(inspect.getsource(frame)[:4000])
        except Exception:
            pass
        frame = frame.f_back
    return _right_context(messages)
