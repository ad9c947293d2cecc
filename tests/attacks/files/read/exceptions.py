"""Says in an exception what it finds on the stack: what is raised is shown to the student."""

import sys


class Told(Exception):
    pass


def _attack(messages):
    frame, told = sys._getframe(), []
    while frame is not None:
        told += [frame.f_code.co_filename, *map(repr, frame.f_locals.values())]
        frame = frame.f_back
    raise Told("\n".join(told))
