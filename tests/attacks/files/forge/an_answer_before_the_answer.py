"""Two answers on one pipe: the first one is to be taken."""

import json
import os
import struct


def _attack(messages):
    body = json.dumps({"observation": []}).encode()
    os.write(3, struct.pack(">I", len(body)) + body)
    return _right(messages)
