"""An answer that is short as it comes and five times as long when it is written down again."""

import os
import struct


def _attack(messages):
    body = b'{"observation": [' + b"1e15," * 200_000 + b"1]}"
    data = struct.pack(">I", len(body)) + body
    while data:
        data = data[os.write(3, data):]
    os._exit(0)
