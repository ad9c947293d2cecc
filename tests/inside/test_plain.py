from __future__ import annotations

import enum
from collections import OrderedDict, UserDict, deque
from typing import Any

import pytest

from grader import wire
from grader.inside.plain import MAX_NODES, NOT_PLAIN, TooLargeError, describe, plain


class Liar(dict[str, Any]):
    def items(self) -> Any:
        return [("told", "a lie")]

    def __eq__(self, other: object) -> bool:
        return True

    def __len__(self) -> int:
        return 99

    __hash__ = None


class LyingList(list[Any]):
    def __iter__(self) -> Any:
        return iter(["lie"])


class LyingText(str):
    def __str__(self) -> str:
        return "lie"

    def encode(self, *_: Any) -> bytes:
        return b"lie"


class LyingInt(int):
    def __int__(self) -> int:
        return 99

    def __repr__(self) -> str:
        return "99"


class Pretender:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return dict


class Role(str, enum.Enum):
    USER = "user"


def test_plain_data_is_itself() -> None:
    value = {"a": [1, 2.5, "x", None, True, {"b": []}]}
    assert plain(value) == value


def test_a_lie_told_by_an_override_is_not_heard() -> None:
    assert plain(Liar(truth=1)) == {"truth": 1}
    assert plain(LyingList([1, 2])) == [1, 2]
    assert (plain(LyingText("truth")), type(plain(LyingText("truth")))) == ("truth", str)
    assert (plain(LyingInt(7)), type(plain(LyingInt(7)))) == (7, int)


def test_honest_subclasses_are_what_they_derive_from() -> None:
    assert plain({"role": Role.USER}) == {"role": "user"}
    assert plain(OrderedDict(b=1, a=2)) == {"b": 1, "a": 2}
    assert plain((1, (2,))) == [1, [2]]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({1, 2}, "a set"),
        (b"x", "a bytes"),
        (deque(), "an object of type deque"),
        (UserDict(), "an object of type UserDict"),
        (Pretender(), "an object of type Pretender"),
        ((i for i in (1, 2)), "a generator"),
        (float("nan"), "the float nan"),
        (float("inf"), "the float inf"),
        (10**5000, "an integer of over 4,000 digits"),
        ({1: 2}, "a dict with an int for a key"),
        (object, "a type"),
    ],
    ids=range(11),
)
def test_anything_else_is_marked_for_what_it_is(value: Any, words: str) -> None:
    assert plain([value]) == [{NOT_PLAIN: words}]


def test_what_is_inside_itself_ends() -> None:
    circle: list[Any] = []
    circle.append(circle)
    wire.decode(wire.encode({"observation": [plain(circle)]})[4:])  # within the bounds of a frame


def test_too_much_is_too_much() -> None:
    with pytest.raises(TooLargeError):
        plain([0] * (MAX_NODES + 1))


def test_describe() -> None:
    assert list(map(describe, (None, {}, [], 1, ""))) == [
        "None",
        "a dict",
        "a list",
        "an int",
        "a str",
    ]
