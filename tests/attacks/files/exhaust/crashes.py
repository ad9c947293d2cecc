"""Brings the interpreter down."""

import ctypes


def _attack(messages):
    ctypes.string_at(0)
