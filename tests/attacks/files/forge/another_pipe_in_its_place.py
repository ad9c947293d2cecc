"""Puts a file in the place of the pipe, so that the answer goes nowhere, and exits well."""

import os


def _attack(messages):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 3)
    return _right(messages)
