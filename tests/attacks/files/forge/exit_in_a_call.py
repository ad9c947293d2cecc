"""Leaves with status 0 from inside a call."""

import os


def _attack(messages):
    os._exit(0)
