"""A NameError whose name is no text."""

import operator


class Name:
    __str__ = __repr__ = __bool__ = operator.itemgetter("x")


def _attack(messages):
    error = NameError("x")
    error.name = Name()
    raise error
