"""Which files are the same but for comments and layout. Read as tokens; never compiled, never run."""

from __future__ import annotations

import hashlib
import io
import tokenize

_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_SHAPE = {tokenize.NEWLINE: "\n", tokenize.INDENT: "\x01", tokenize.DEDENT: "\x02"}


def of(text: str) -> str:
    """A digest that is equal for files that differ in nothing but comments, blanks and line breaks.

    A file that can't be read as tokens is compared by its words.
    """
    digest = hashlib.sha256()
    try:
        for kind, string, *_ in tokenize.generate_tokens(io.StringIO(text).readline):
            if kind not in _LAYOUT:
                digest.update(_SHAPE.get(kind, string).encode("utf-8", "backslashreplace") + b"\0")
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError):
        digest = hashlib.sha256(b"words\0")
        digest.update(" ".join(text.split()).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:20]
