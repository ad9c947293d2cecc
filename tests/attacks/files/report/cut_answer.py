"""An answer that ends in the middle."""

import os


def _attack(messages):
    os.write(3, b'\0\0\0\x20{"observation": [')
    os._exit(0)
