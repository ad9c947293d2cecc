"""An exception whose type breaks whoever asks for its name."""

import operator


class Meta(type):
    __name__ = property(operator.itemgetter("x"))
    __module__ = property(operator.itemgetter("x"))


class Hostile(Exception, metaclass=Meta):
    pass


def _attack(messages):
    raise Hostile("x")
