"""Recursion without an end, as beginners write it."""


def _attack(messages):
    return _attack(messages)
