"""An exception whose traceback, cause and arguments are no such things."""


class Hostile(AttributeError):
    __traceback__ = 5
    __cause__ = __context__ = args = name = obj = "x"


def _attack(messages):
    raise Hostile
