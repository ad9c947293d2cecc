"""Names that strangers chose: made comparable, made safe to print, made into file names of our own."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_KEPT = 120  # characters of a name
# What steers a terminal or turns a line of text around: controls, bidi marks, half characters.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


def tidy(text: str) -> str:
    """`text` in NFC, on one line, without anything that steers a terminal, and of bounded length.

    A name that is cut keeps a piece of its hash, so that two long ones stay two.
    """
    text = _UNPRINTABLE.sub("\ufffd", unicodedata.normalize("NFC", text)).strip()
    if len(text) <= _KEPT:
        return text
    return f"{text[:_KEPT]}…{_digest(text)[:8]}"


def printable(text: str) -> str:
    """`text`, of any length and several lines, without anything that steers a terminal."""
    return "\n".join(_UNPRINTABLE.sub("\ufffd", line) for line in text.split("\n"))


def fold(text: str) -> str:
    """`text` as identifiers are compared: NFC, no outer blanks, upper and lower case alike."""
    return unicodedata.normalize("NFC", tidy(text).casefold())


def squashed(name: str) -> frozenset[str]:
    """What a full name may have become in a file name: its words run together, at any rotation.

    Canvas writes "Doe, Jane Ann" as `doejaneann`; a roster may have "Jane Ann Doe".
    """
    words = [word for word in re.split(r"[\W_]+", fold(name)) if word]
    return frozenset("".join(words[i:] + words[:i]) for i in range(len(words)))


def file_name(key: str) -> str:
    """A file name for a student's key: plain ASCII, short, the same for the same key, no two alike."""
    plain = _NOT_PLAIN.sub("-", tidy(key)).strip("-.")[:60] or "student"
    return f"{plain}-{_digest(key)[:10]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
