"""As `blames_the_grader`, from a right answer and in one place."""

import json
import os
import struct


def _attack(messages):
    body = json.dumps({"fault": {"kind": "scene", "message": "scenes.py:1: KeyError"}}).encode()
    os.write(3, struct.pack(">I", len(body)) + body)
    os._exit(0)
