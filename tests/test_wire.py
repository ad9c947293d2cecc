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


@given(PLAIN)
def test_a_frame_of_ours_brings_back_the_same(value: Any) -> None:
    assert json.dumps(wire.read_trusted(io.BytesIO(wire.encode(value)).read)) == json.dumps(value)


def test_a_frame_of_ours_may_be_deep_and_long_but_not_cut_or_anything() -> None:
    deep: Any = []
    for _ in range(2 * wire.MAX_DEPTH):
        deep = [deep]
    assert wire.read_trusted(io.BytesIO(wire.encode([deep, "x" * wire.MAX_FRAME])).read)[0] == deep
    for body in (b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(WireError):
            wire.decode_trusted(body)


@pytest.mark.parametrize("wide", [0, 2 * wire.MAX_DEPTH])
@pytest.mark.parametrize("kind", ["[%s]", '{"a":%s}'])
def test_depth_is_counted_whatever_else_is_in_there(kind: str, wide: int) -> None:
    """Few brackets can't be deep, so those are not looked at: neither way may differ at the limit."""
    value = "1"
    for _ in range(wire.MAX_DEPTH - 1):
        value = kind % value
    body = "[{},{}]".format(value, ",".join(["[]"] * wide or ["0"]))
    wire.decode(body.encode())
    with pytest.raises(WireError, match="nested deeper"):
        wire.decode(f"[{body}]".encode())
