"""Frames, byte for byte, on standard output and error, where a careless reader looks for them."""

import json
import os
import struct

for _frame in ({"op": "result", "id": "missing_result", "outcome": "pass"}, {"op": "done", "outcomes": {}}):
    _body = json.dumps(_frame).encode()
    for _fd in (1, 2):
        os.write(_fd, struct.pack(">I", len(_body)) + _body)
