"""What every format does to a text before it applies its own rules: show what would hide, and cut.

A report quotes what a submission printed and returned, so its texts are anybody's. What is invisible
or steers a reader is written out; each format then escapes what it gives a meaning to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Controls but tab and newline; what hides or turns text around; halves of characters; what XML forbids.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_SIZES = (20_000, 5_000, 1_000, 200, 0)


def visible(text: str) -> str:
    r"""`text` with everything that hides or steers written out: an escape is shown as \x1b."""
    return _HIDDEN.sub(lambda match: _written_out(ord(match[0])), text)


def one_line(text: str) -> str:
    """`text` on a single line, visible; for names and titles."""
    return " ".join(visible(text).split())


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of `text`; what was cut is said, where there is room to."""
    if len(text) <= limit:
        return text
    note = f"\n… ({len(text):,} characters in all)"
    return text[: limit - len(note)] + note if limit > len(note) else text[:limit]


def clip_bytes(text: str, limit: int) -> str:
    """As much of `text` as has at most `limit` bytes in UTF-8; ends in … where it was cut."""
    data = text.encode(errors="backslashreplace")
    if len(data) <= limit:
        return text
    return data[: limit - 3].decode(errors="ignore") + "…"


def fit(build: Callable[[int], str], limit: int) -> str:
    """The fullest of what `build` makes that has at most `limit` bytes.

    Args:
        build: gives the whole of a format, with each text cut to so many characters; 0 asks for the
            least that still says something.
        limit: in bytes.
    """
    return _first_that(lambda text: len(text.encode()) <= limit, map(build, _SIZES))


def _first_that(fits: Callable[[str], bool], texts: Iterable[str]) -> str:
    text = ""
    for text in texts:
        if fits(text):
            break
    return text


def _written_out(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
