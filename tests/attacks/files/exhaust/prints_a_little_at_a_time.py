"""As `prints_without_end`, past everything that could count along, a byte at a time."""

import os


def _attack(messages):
    while True:
        os.write(1, b"x")
        os.write(2, b"y")
