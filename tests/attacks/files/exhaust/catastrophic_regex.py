"""A pattern that tries every way to split a text."""

import re


def _attack(messages):
    return re.match(r"(a+)+$", "a" * 60 + "b")
