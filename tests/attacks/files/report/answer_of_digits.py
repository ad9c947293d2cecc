"""An answer that is one number of a million digits."""

import os
import struct


def _attack(messages):
    body = b'{"observation": ' + b"9" * 1_000_000 + b"}"
    data = struct.pack(">I", len(body)) + body
    while data:
        data = data[os.write(3, data):]
    os._exit(0)
