"""What is seen in several scenes, told where one was asked for: the rest would be believed, or break a test."""

import json
import os
import struct


def _attack(messages):
    body = json.dumps({"observations": [[], 5]}).encode()
    os.write(3, struct.pack(">I", len(body)) + body)
    os._exit(0)
