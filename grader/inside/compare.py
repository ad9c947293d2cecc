"""Comparison by exact type and value, and texts that make a difference visible. All of it bounded."""

from __future__ import annotations

import difflib
import json
from typing import Any

from grader.inside.plain import NOT_PLAIN

_MAX_LINES = 120
_MAX_WIDTH = 400
_LONG = 66  # characters; where two longer lines part is hard to see


def equal(one: Any, other: Any) -> bool:
    """Whether two plain values are the same: `True` is not `1`, `1` is not `1.0`. Key order is free."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def fits(value: Any, shape: Any) -> bool:
    """Whether plain data has a shape, as a scene writes it down.

    Args:
        value: the data.
        shape: a type stands for a value of exactly that type, and `object` for any; a dict for these
            keys and no others; `[x, y]` for a list of two, `[x, ...]` for one of any length; a tuple for
            one of several; anything else for itself.
    """
    if isinstance(shape, type):
        return shape is object or type(value) is shape
    if isinstance(shape, tuple):
        return any(fits(value, one) for one in shape)
    if isinstance(shape, dict):
        named = isinstance(value, dict) and value.keys() == shape.keys()
        return named and all(fits(value[key], shape[key]) for key in shape)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return False
        each = shape[:1] * len(value) if shape[1:] == [...] else shape
        return len(value) == len(each) and all(map(fits, value, each))
    return equal(value, shape)


class Line(str):
    """A text of ours that is shown as it is, without quotes."""

    __slots__ = ()


def cut(text: str, most: int) -> str:
    """At most so many characters of a text; ends in … where something was left out."""
    return text if len(text) <= most else text[: most - 1] + "…"


def what_is(value: Any) -> str:
    """What a plain value is, in the middle of a sentence."""
    if value is None:
        return "None"
    if is_mark(value):
        return str(value[NOT_PLAIN])
    if isinstance(value, dict) and isinstance(value.get("role"), str):
        return "a message (a dict)"
    return _type_of(value)


def _type_of(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def is_mark(value: Any) -> bool:
    """Whether an observation holds, in this place, something that was not plain data."""
    return isinstance(value, dict) and NOT_PLAIN in value


def is_messages(value: Any) -> bool:
    """Whether a value looks like a list of messages, so that it can be shown as one."""
    return isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(item.get("role"), str) for item in value
    )


def lines_of(value: Any) -> list[str]:
    """A value as lines: a list item by item, a text line by line, a mark as what it says."""
    if is_mark(value):
        return [f"<{value[NOT_PLAIN]}>"]
    if isinstance(value, str):
        return [_json(line) for line in value.splitlines(keepends=True)] or ['""']
    if isinstance(value, list):
        return [_line(item) for item in value] or ["(nothing)"]
    return [_line(value)]


def differing(expected: Any, observed: Any) -> tuple[str, str, str]:
    """Expected, observed, and a diff of the two, as bounded texts.

    Messages are shown short, one to a line; where two that differ would look alike that way, both are
    written out in full, field by field. Where one is of another type than the other, both types are named.
    """
    if is_messages(expected) and is_messages(observed):
        left, right = [message_line(m) for m in expected], [message_line(m) for m in observed]
        for index, (one, other) in enumerate(zip(expected, observed, strict=False)):
            if left[index] == right[index] and not equal(one, other):
                left[index], right[index] = _sorted_json(one), _sorted_json(other)
        left, right = left or ["(no messages)"], right or ["(no messages)"]
    else:
        left, right = lines_of(expected), lines_of(observed)
        _name_types(expected, observed, left, right)
    left, right = _bounded(left), _bounded(right)
    return "\n".join(left), "\n".join(right), _diff(left, right)


def _name_types(expected: Any, observed: Any, left: list[str], right: list[str]) -> None:
    """Say beside two values of different types which these are."""
    if isinstance(expected, list) and isinstance(observed, list):
        pairs = list(enumerate(zip(expected, observed, strict=False)))
    else:
        pairs = [(0, (expected, observed))]
    for at, (one, other) in pairs:
        if type(one) is not type(other):
            left[at] += "" if one is None else f"  ({_type_of(one)})"
            right[at] += "" if other is None or is_mark(other) else f"  ({_type_of(other)})"


def message_line(message: Any) -> str:
    """One message on one line, in the manner of `lab.show`; in full where it is not a usual message."""
    if not isinstance(message, dict) or is_mark(message):
        return _line(message)
    role, content = message.get("role"), message.get("content")
    if role == "user" and isinstance(content, str):
        text = f"user -> {_json(content)}"
        usual = {"role", "content"}
    elif role == "toolResult" and isinstance(content, str):
        text = f"toolResult {message.get('tool_call_id')} -> {_json(content)}"
        text += "  [is_error]" if message.get("is_error") is True else ""
        usual = {"role", "tool_call_id", "tool_name", "content", "is_error"}
    elif role == "assistant" and isinstance(content, list):
        text = "assistant -> " + (" + ".join(map(_block, content)) or "(nothing)")
        if message.get("stop_reason") == "error":
            text += f"  [error: {message.get('error_message')}]"
        usual = {"role", "content", "stop_reason", "usage", "error_message"}
    else:
        return _sorted_json(message)
    return text if set(message) <= usual else _sorted_json(message)


def _block(block: Any) -> str:
    if isinstance(block, dict) and block.get("type") == "text":
        return _json(block.get("text"))
    if isinstance(block, dict) and block.get("type") == "toolCall":
        return f"toolCall {block.get('id')} {block.get('name')}({_json(block.get('arguments'))})"
    return _json(block)


def _line(value: Any) -> str:
    if is_mark(value):
        return f"<{value[NOT_PLAIN]}>"
    if isinstance(value, Line):
        return value
    if isinstance(value, dict) and "role" in value:
        return message_line(value)
    return repr(value) if value is None or isinstance(value, bool) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def _sorted_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True)


def _bounded(lines: list[str]) -> list[str]:
    kept = [
        line if len(line) <= _MAX_WIDTH else f"{line[:_MAX_WIDTH]} … ({len(line)} characters)"
        for line in lines[:_MAX_LINES]
    ]
    if len(lines) > _MAX_LINES:
        kept.append(f"… and {len(lines) - _MAX_LINES} more")
    return kept


def _diff(left: list[str], right: list[str]) -> str:
    """Both lists in one, marked: two spaces what they share, "-" what is missing, "+" what is too many."""
    out = []
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            out += [f"  {line}" for line in left[a:b]]
        else:
            out += [f"- {line}" for line in left[a:b]]
            out += [f"+ {line}" for line in right[c:d]]
            if b - a == d - c == 1 and (hard_to_see := _parting(left[a], right[c])):
                out.append("? " + hard_to_see)
    return "\n".join(out)


def _parting(one: str, other: str) -> str:
    """Where two lines part, if the eye would not find it: far to the right, or between look-alikes."""
    at = next(
        (i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y),
        min(len(one), len(other)),
    )
    here, there = one[at : at + 1], other[at : at + 1]
    if not (here + there).isascii():
        names = [f"U+{ord(c):04X}" if c else "nothing" for c in (here, there)]
        return f"character {at + 1}: {names[0]} was due, {names[1]} came"
    if at <= _LONG:
        return ""
    due, came = (line[at : at + 24] + ("…" if len(line) > at + 24 else "") for line in (one, other))
    return f"from character {at + 1} on: {due!r} was due, {came!r} came"
