"""An answer whose header promises four gigabytes, and which never ends."""

import os


def _attack(messages):
    os.write(3, b"\xff\xff\xff\xff")
    while True:
        os.write(3, b" " * 65536)
