"""So little recursion is left that whatever looks at the answer breaks, in its own code."""

import sys


def _attack(messages):
    view = _right(messages)
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 3)
    return view
