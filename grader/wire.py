"""Frames between the grader and its rooms: a length, then strict JSON. The only encoder and decoder.

A frame is four bytes, the length of what follows in big-endian order, and that many bytes of JSON in
ASCII. Frames carry their length because half-closing a pipe loses output on some paths: an end of file
is always a fault, never a message.

What comes from the stage was written by a stranger's program, so its decoder takes nothing on trust:
length, nesting and digits are bounded, and NaN, Infinity and numbers that overflow are refused. What one of
our own programs has written, or has checked and passes on, is only decoded.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

from grader.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

HEADER = struct.Struct(">I")
MAX_FRAME = 1 << 20  # bytes of JSON in a frame from the stage
MAX_TRUSTED_FRAME = 32 << 20  # bytes of JSON in a frame of ours: submission, scenes, tests
MAX_DEPTH = 64  # lists and dicts inside each other
MAX_DIGITS = 4300  # of an integer; Python's own default for int(str)


def encode(value: Any) -> bytes:
    """One frame that holds `value`, made of dict, list, str, int, float, bool and None.

    Raises:
        WireError: `value` is not plain JSON (a NaN, an object), or refers to itself.
    """
    try:
        body = _ENCODER.encode(value).encode("ascii")
    except (TypeError, ValueError, RecursionError) as exc:
        raise WireError(f"not plain JSON: {exc}") from exc
    return HEADER.pack(len(body)) + body


def decode(body: bytes) -> Any:
    """The value in a frame's body, checked.

    Raises:
        WireError: not ASCII JSON, nested deeper than MAX_DEPTH, an integer of more than MAX_DIGITS
            digits, or a number that is not finite.
    """
    try:
        value = _STRICT.decode(body.decode("ascii"))
    except (ValueError, RecursionError) as exc:
        raise WireError(f"not a frame of plain JSON: {str(exc)[:200]}") from exc
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH:  # else it can't be
        _check_depth(value)
    return value


def decode_trusted(body: bytes) -> Any:
    """The value in the body of a frame of ours.

    Raises:
        WireError: not ASCII JSON.
    """
    try:
        return _TRUSTING.decode(body.decode("ascii"))
    except (ValueError, RecursionError) as exc:
        raise WireError(f"not a frame of JSON: {str(exc)[:200]}") from exc


def read_frame(read: Callable[[int], bytes], limit: int = MAX_FRAME) -> Any:
    """Read one frame with `read(n)`, which gives n bytes at most and b"" at the end of the stream.

    Args:
        read: as `BufferedReader.read` or `RawIOBase.read`; short reads are gathered.
        limit: how many bytes of JSON are accepted.

    Raises:
        EOFError: the stream ended before a first byte.
        WireError: cut in the middle, over the limit, or not plain JSON.
    """
    return decode(read_body(read, limit))


def read_trusted(read: Callable[[int], bytes]) -> Any:
    """As `read_frame`, for a frame of ours."""
    return decode_trusted(read_body(read, MAX_TRUSTED_FRAME))


def read_body(read: Callable[[int], bytes], limit: int = MAX_FRAME) -> bytes:
    """As `read_frame`, but the bytes of the body, not yet decoded."""
    (length,) = HEADER.unpack(_read_exactly(read, HEADER.size, first=True))
    if length > limit:
        raise WireError(f"a frame of {length} bytes; {limit} are allowed")
    return _read_exactly(read, length, first=False)


def _read_exactly(read: Callable[[int], bytes], count: int, *, first: bool) -> bytes:
    parts = []
    missing = count
    while missing:
        part = read(missing)
        if not part:
            if first and missing == count:
                raise EOFError("the room closed its end")
            raise WireError(f"a frame was cut: {missing} of {count} bytes are missing")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _bounded_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits; {MAX_DIGITS} are allowed")
    return int(digits)


def _finite_float(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number too large for a float")
    return number


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return
        level = below
    raise WireError(f"nested deeper than {MAX_DEPTH}")


# Made once: `json.loads` and `json.dumps` make one for each call that asks for anything in particular.
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_STRICT = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_bounded_int, parse_float=_finite_float
)
_TRUSTING = json.JSONDecoder()
