"""A fault whose traceback has a hundred thousand lines."""

import json
import os
import struct


def _attack(messages):
    fault = {"kind": "exception", "message": "x" * 100_000, "traceback": ["x"] * 150_000, "name": "y" * 1000}
    body = json.dumps({"fault": fault}).encode()
    data = struct.pack(">I", len(body)) + body
    while data:
        data = data[os.write(3, data):]
    os._exit(0)
