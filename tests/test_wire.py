from __future__ import annotations

import io
import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import wire
from grader.errors import WireError

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),  # lone surrogates and all
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def read(data: bytes, limit: int = wire.MAX_FRAME) -> Any:
    return wire.read_frame(io.BytesIO(data).read, limit)


@given(PLAIN)
def test_a_frame_brings_back_what_was_put_in(value: Any) -> None:
    back = read(wire.encode(value))
    assert json.dumps(back) == json.dumps(value)


@given(PLAIN, st.integers(1, 7))
def test_frames_may_arrive_in_pieces(value: Any, size: int) -> None:
    stream = io.BytesIO(wire.encode(value) + wire.encode("next"))

    def slow(count: int) -> bytes:
        return stream.read(min(count, size))

    assert json.dumps(wire.read_frame(slow)) == json.dumps(value)
    assert wire.read_frame(slow) == "next"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_a_wire_error_or_an_end(data: bytes) -> None:
    try:
        read(data)
    except (WireError, EOFError):
        pass


def test_an_end_before_the_first_byte_is_told_from_a_cut() -> None:
    with pytest.raises(EOFError):
        read(b"")
    for cut in (b"\0", wire.encode("abc")[:-1]):
        with pytest.raises(WireError, match="cut"):
            read(cut)


@pytest.mark.parametrize(
    "body",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "[1,",
        "{'a': 1}",
        '"\u00e9"',
        "9" * (wire.MAX_DIGITS + 1),
        "[" * (wire.MAX_DEPTH + 2) + "]" * (wire.MAX_DEPTH + 2),
        "[" * 100_000,
    ],
)
def test_what_is_not_plain_bounded_json_is_refused(body: str) -> None:
    with pytest.raises(WireError):
        wire.decode(body.encode())


def test_the_bounds_themselves_are_allowed() -> None:
    assert wire.decode(b"9" * wire.MAX_DIGITS) == int("9" * wire.MAX_DIGITS)
    wire.decode(b"[" * wire.MAX_DEPTH + b"]" * wire.MAX_DEPTH)


def test_a_length_over_the_limit_is_refused_before_anything_is_read() -> None:
    def greedy(count: int) -> bytes:
        assert count == wire.HEADER.size
        return struct.pack(">I", 2_000_000_000)

    with pytest.raises(WireError, match="2000000000"):
        wire.read_frame(greedy)


def test_what_is_not_plain_can_not_be_sent() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for value in (float("nan"), float("inf"), {1, 2}, object(), circle):
        with pytest.raises(WireError):
            wire.encode(value)
