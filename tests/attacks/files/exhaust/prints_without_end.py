"""Prints, and never stops."""


def _attack(messages):
    while True:
        print("x" * 65536)
