"""Hands back an object of a type that has no name, and whose module can't be asked for."""

import operator


class Meta(type):
    __module__ = property(operator.itemgetter("x"))
    __name__ = property(operator.itemgetter("x"))
    __mro__ = property(operator.itemgetter("x"))
    __instancecheck__ = __subclasscheck__ = operator.itemgetter("x")


def _attack(messages):
    return [Meta("", (), {})()]
