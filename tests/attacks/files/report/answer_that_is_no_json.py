"""Bytes that are no ASCII, no JSON, or JSON that only Python reads."""

import os
import struct


def _attack(messages):
    body = b'{"observation": NaN, "\xff\xfe": Infinity}'
    os.write(3, struct.pack(">I", len(body)) + body)
    os._exit(0)
