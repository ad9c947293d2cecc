"""Strings as they are in a source file, and as they are when they have come over a wire.

In a student's own folder "assistant" is one object, however often `lab` and the harness write it: Python
keeps a string that looks like a name once. Read from JSON it is another object each time. A comparison
with `is` tells the two apart. So a scene is given the first kind, as a replay would have it, and where
the second kind is wanted it sends what it was given through JSON.
"""

from __future__ import annotations

import sys
from typing import Any


def as_literals(value: Any) -> Any:
    """Plain data in which every string that Python would keep once is the one that it keeps."""
    if isinstance(value, str):
        return sys.intern(value) if value.isascii() and value.isidentifier() else value
    if isinstance(value, list):
        return [as_literals(item) for item in value]
    if isinstance(value, dict):
        return {as_literals(key): as_literals(item) for key, item in value.items()}
    return value
