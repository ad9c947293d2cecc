"""How big a request is: the figures that come back with each reply.

The rule is the lab's own: four characters of JSON are one token, rounded up. It gives the figures
that page 7 prints under "frontend 2", to the last digit.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .messages import Block, Message

__all__ = ["request_lines", "usage"]

_ABOUT_THE_REPLY = ("stop_reason", "usage", "error_message")
_CHARACTERS_A_TOKEN = 4


def request_lines(
    system: str, tools: Sequence[dict[str, Any]], messages: Sequence[Message]
) -> list[str]:
    """Write a request as lines of JSON: what stands before the conversation, then each message.

    What an assistant message says about itself (why it stopped, what it cost) was never sent to
    anybody, so it is left out of the count.

    Raises:
        TypeError: something in it can't be written as JSON; the text says which part.
    """
    lines = [_dumped({"system": system, "tools": list(tools)}, "the system text and tool specs")]
    for index, message in enumerate(messages):
        sent = {key: value for key, value in message.items() if key not in _ABOUT_THE_REPLY}
        lines.append(_dumped(sent, f"messages[{index}]"))
    return lines


def usage(lines: list[str], earlier: list[str], content: list[Block]) -> dict[str, int]:
    """Count a request and the reply to it, in tokens.

    Args:
        lines: the request, from ``request_lines``.
        earlier: the request that the same model read before this one; none is ``[]``.
        content: the blocks of the reply, with their ids.

    Returns:
        ``input`` for the whole request, ``cache_read`` for the leading lines that it shares with
        the earlier one, ``output`` for the reply.
    """
    shared = 0
    for line, before in zip(lines, earlier, strict=False):
        if line != before:
            break
        shared += 1
    return {
        "input": _tokens("\n".join(lines)),
        "cache_read": _tokens("\n".join(lines[:shared])),
        "output": _tokens(_dumped(content, "the reply")),
    }


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def _dumped(value: object, what: str) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"{what} can't be sent, it is not plain JSON: {error}") from error
