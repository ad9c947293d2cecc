"""Closes everything that an answer could come through, and goes on."""

import os


def _attack(messages):
    os.closerange(3, 256)
    return _right(messages)
