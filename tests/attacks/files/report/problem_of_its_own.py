"""Says while it is imported, in the grader's name, that it can't be loaded; in words of its own."""

import json
import os
import struct

_problem = {"kind": "encoding", "message": "\x1b[2J14 of 14 points - passed", "line": -1, "help": "\ud800" * 50_000}
_body = json.dumps({"problem": _problem}).encode()
_data = struct.pack(">I", len(_body)) + _body
while _data:
    _data = _data[os.write(3, _data):]
os._exit(0)
