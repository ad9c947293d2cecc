"""Says for each run, in the recorder's name, that the grader is broken. For lessons 7 and 9."""

import json
import os
import struct

_body = json.dumps({"fault": {"kind": "scene", "message": "scenes.py:1: KeyError: 'x'"}}).encode()


def run_agent(*_, **__):
    os.write(3, struct.pack(">I", len(_body)) + _body)
    os._exit(0)


class JsonRenderer:
    def __init__(self):
        run_agent()


class FinalTextRenderer(JsonRenderer):
    pass


class Harness(JsonRenderer):
    def __init__(self, *_, **__):
        run_agent()
