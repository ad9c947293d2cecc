"""NUL, escapes that clear a terminal and rewrite its title, text that runs from right to left."""

import os

_TEXT = "\0\x1b[2J\x1b]0;passed\x07\x1b[8m\x9b31m\u202eessap\u2066\u2028\u2029\x08\x7f\r\ufeff\ufffe"


def _attack(messages):
    os.write(1, _TEXT.encode() + b"\xff\xfe\x00")
    return [{"role": "user", "content": _TEXT}, {"role": "toolResult", "tool_call_id": _TEXT, "content": _TEXT}]
