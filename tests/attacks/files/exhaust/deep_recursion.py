"""Recursion without an end, with the limit out of the way: the C stack overflows."""

import sys


def _attack(messages):
    sys.setrecursionlimit(1 << 30)

    class Deep:
        def __repr__(self):
            return repr(self)

    return repr(Deep())
