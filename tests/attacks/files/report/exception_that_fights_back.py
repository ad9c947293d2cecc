"""An exception whose text can't be had."""


class Hostile(Exception):
    def __str__(self):
        raise self

    __repr__ = __str__


def _attack(messages):
    raise Hostile
