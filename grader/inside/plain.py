"""Values of a submission as plain JSON data: exactly what they are, or a mark that says what they were.

Subclasses of the plain types are read through the base type's own slots (`dict.items(x)`), so a lie
told by an override is not heard and an honest `class Role(str, Enum)` is a string. The types and
functions used are bound when this module is imported, before any submission is.
"""

from __future__ import annotations

from typing import Any

from grader.wire import MAX_DEPTH

# The key of a mark. A NUL can't stand in a field name that anybody types by accident.
NOT_PLAIN = "\0not plain"
MAX_NODES = 200_000
_DEPTH_LEFT = MAX_DEPTH - 8  # an observation wraps what it holds in some lists and dicts of its own
_MAX_BITS = 14_000  # an integer of fewer bits has fewer than 4,300 digits

_type, _issubclass, _len = type, issubclass, len
_dict, _list, _tuple, _str, _int, _float, _bool = dict, list, tuple, str, int, float, bool
_items, _list_iter, _tuple_iter = dict.items, list.__iter__, tuple.__iter__
_as_str, _as_int, _as_float, _bits = str.__str__, int.__int__, float.__float__, int.bit_length
# What a type says of itself may be a lie of its metaclass's; these ask the type behind it.
_own_name = type.__dict__["__name__"].__get__
_own_module = type.__dict__["__module__"].__get__
_own_bases = type.__dict__["__mro__"].__get__
_own_names = type.__dict__["__dict__"].__get__
_MAX_NAME = 80  # characters
_VOWELS = ("a", "e", "i", "o", "u")


class TooLargeError(Exception):
    """There is more in the value than an observation may hold."""


def plain(value: Any) -> Any:
    """`value` as plain JSON data; tuples as lists, anything that is not plain as a mark.

    Raises:
        TooLargeError: more than MAX_NODES values in it.
    """
    return _plain(value, _DEPTH_LEFT, [MAX_NODES])


def mark(text: str) -> dict[str, str]:
    """What stands in an observation for something that is not plain data."""
    return {NOT_PLAIN: text}


def describe(value: Any) -> str:
    """What a value is, for a sentence: "a dict", "None", "an object of type Conversation"."""
    kind = _type(value)
    if value is None:
        return "None"
    name = name_of(kind)
    if _module_of(kind) == "builtins":
        return f"{'an' if name[:1] in _VOWELS else 'a'} {name}"
    return f"an object of type {name}"


def name_of(kind: type) -> str:
    """A type's name, whatever its metaclass would have it be."""
    return _as_str(_own_name(kind))[:_MAX_NAME]


def has(kind: type, name: str) -> bool:
    """Whether objects of a type have an attribute by their type; asks no code of the type's."""
    return any(name in _own_names(base) for base in _own_bases(kind))


def _module_of(kind: type) -> str:
    try:
        module = _own_module(kind)
    except AttributeError:
        return ""
    return module if _type(module) is _str else ""


def _plain(value: Any, depth: int, budget: list[int]) -> Any:  # noqa: PLR0911 - one a type
    budget[0] -= 1
    if budget[0] < 0:
        raise TooLargeError
    kind = _type(value)
    if value is None or kind is _bool:
        return value
    if _issubclass(kind, _str):
        return _as_str(value)
    if _issubclass(kind, _int):
        return (
            _as_int(value) if _bits(value) < _MAX_BITS else mark("an integer of over 4,000 digits")
        )
    if _issubclass(kind, _float):
        number = _as_float(value)
        finite = number - number == 0
        return number if finite else mark(f"the float {number}")
    if depth == 0:
        return mark("nested too deep, or inside itself")
    if _issubclass(kind, _dict):
        return _plain_dict(value, depth, budget)
    if _issubclass(kind, _list):
        return [_plain(item, depth - 1, budget) for item in _list_iter(value)]
    if _issubclass(kind, _tuple):
        return [_plain(item, depth - 1, budget) for item in _tuple_iter(value)]
    return mark(describe(value))


def _plain_dict(value: Any, depth: int, budget: list[int]) -> Any:
    data = {}
    for key, item in _items(value):
        if not _issubclass(_type(key), _str):
            return mark(f"a dict with {describe(key)} for a key")
        data[_as_str(key)] = _plain(item, depth - 1, budget)
    return data
