"""Answers for the recorder with an observation of its own making, and leaves."""

import json
import os
import struct


def _attack(messages):
    same = list(range(len(messages)))
    seen = {"items": messages, "same": same, "is_input": False, "record": messages, "kept": same}
    body = json.dumps({"observation": [seen]}).encode()
    os.write(3, struct.pack(">I", len(body)) + body)
    os._exit(0)
