"""Observations as nobody's scene would write them down, made out of real ones.

A submission has a hand in everything that comes out of its room, so a hidden test has to judge whatever
comes, and soon: one that breaks or thinks for ever has no verdict to give.
"""

from __future__ import annotations

import copy
import random
from typing import Any

BIG = 40_000
_SMALL: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**70,
    "",
    "x",
    "\ud800",
    [],
    {},
    [None],
    [[]],
    ["role"],
    {"": 0},
    {"\0not plain": "an object"},
    {"role": None},
    {"role": "user"},
    {"role": "toolResult"},
    {"role": "toolResult", "tool_call_id": [], "content": {}, "is_error": None},
    {"role": "assistant", "content": None},
    {"role": "assistant", "content": [None, {"type": "toolCall"}, {"type": "text", "text": 1}]},
    {"role": "assistant", "content": [{"type": "toolCall", "id": {}, "name": 0, "arguments": []}]},
    {"type": "message_end"},
    {"type": ["agent_start"]},
    {"type": "message_end", "message": {"role": "assistant", "content": "x"}},
]


def _big(draw: random.Random, node: Any) -> Any:
    kind = draw.randrange(6)
    if kind == 0:
        return "xy" * (BIG * 8)
    if kind == 1:
        return "\n".join(f"{n % 7} {'ab' * 8}" for n in range(BIG))
    if kind == 2:
        return {**(node if isinstance(node, dict) else {}), **{f"k{n}": n for n in range(BIG)}}
    if kind == 3 and isinstance(node, list) and node:
        return [copy.copy(node[n % len(node)]) for n in range(BIG // (1 + len(str(node[0])) // 20))]
    if kind == 4:
        return [{"role": "user", "content": "x"} for _ in range(BIG // 2)]
    return [[n] for n in range(BIG)]


def spoilt(draw: random.Random, observation: Any, *, big: bool) -> Any:
    """An observation with one to three places changed; `big`: with as much as a frame may hold."""
    holder = [copy.deepcopy(observation)]
    for _ in range(1 if big else draw.randint(1, 3)):
        where, key = draw.choice(_places(holder))
        change = draw.randrange(5)
        if big:
            where[key] = _big(draw, where[key])
        elif change == 0 and where is not holder:
            del where[key]
        elif change == 1 and isinstance(where[key], list) and where[key]:
            where[key] = where[key] * 2 if draw.random() < 0.5 else where[key][::-1]
        elif change == 2 and isinstance(where[key], dict) and where[key]:
            name = draw.choice(list(where[key]))
            where[key]["another"] = where[key].pop(name)
        else:
            where[key] = copy.deepcopy(draw.choice(_SMALL))
    return holder[0]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value, with what holds it; those near the top as often as all the rest."""
    found: list[tuple[Any, Any]] = []
    level = [value]
    while level:
        below = []
        for holder in level:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            found += [(holder, key) for key in keys]
            below += [holder[key] for key in keys if isinstance(holder[key], (dict, list))]
        if len(found) < 40:
            found = found * 3
        level = below
    return found
