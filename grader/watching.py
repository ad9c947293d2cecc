"""A file that is being worked on: says each time that it was saved with other contents.

Asked again and again, because that works on every system and file system, and because editors differ:
some write into the file, some put another in its place. The contents are compared, not the times: clocks
of file systems are coarse, and a save that changes nothing is no news.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

EVERY_S = 0.1
_MOST_BYTES = 2 << 20  # a file beyond that can't be graded; its size tells whether it has changed


def saves(path: Path, wait: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Give once at the start, and then whenever the file has come to rest with other contents.

    A file that is gone, or half written, is waited for: only what has stayed the same from one look to
    the next counts.

    Args:
        path: the file.
        wait: lets some seconds pass.
    """
    graded = _contents(path)
    yield
    before = graded
    while True:
        wait(EVERY_S)
        now = _contents(path)
        if now == before and now not in (graded, None):
            graded = now
            yield
        before = now


def _contents(path: Path) -> bytes | None:
    """What tells two states of the file apart; None where there is no file to read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
            return hashlib.sha256(data + str(path.stat().st_size).encode()).digest()
    except OSError:
        return None
