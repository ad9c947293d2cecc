"""Two ways of looking at a transcript: its shape in one line, its words in one line a message."""

from __future__ import annotations

import json

from .messages import calls_of, checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .messages import Block, Message

__all__ = ["shape", "show"]

_CLIP = 80
_NO_ID = "?"


def shape(messages: Sequence[Message]) -> str:
    """Draw a transcript as letters: ``U A[c1,c2] R(c1) R(c2) A(error)``.

    ``U`` is the user, ``A`` the assistant with the ids of its calls, ``R`` a result with the id
    that it answers; ``(error)`` marks a reply that failed (pages 7, 9 and 10). No messages give
    ``""``, and a call that has no id yet is drawn as ``?``, which no page shows.

    Args:
        messages: a list or a tuple, so that ``Harness.messages`` can be handed over as it is.

    Raises:
        TypeError, ValueError: it is not a list of messages (see ``messages.checked``).
    """
    return " ".join(_letter(message) for message in checked(messages))


def show(messages: Sequence[Message], *, clip: int = _CLIP, stop_reason: bool = False) -> str:
    """Write a transcript down, one line a message.

    ``assistant -> "Let me look." + toolCall c1 read({"path": "a.py"})  [error: 503]`` (pages 7 and
    10). Words and arguments are drawn as JSON; a reply with nothing in it is ``(nothing)``; remarks
    follow two spaces each, the stop reason before the error.

    Args:
        messages: a list or tuple of messages.
        clip: how many characters of a text are shown. Arguments and errors are never cut. Three
            dots behind the closing quote say that there was more; the pages show no cut text.
        stop_reason: whether each assistant message says why it stopped (page 7, the ``raed`` cell).

    Raises:
        TypeError, ValueError: it is not a list of messages (see ``messages.checked``), an argument
            can't be written as JSON, or ``clip`` is less than nothing.
    """
    if clip < 0:
        raise ValueError(f"clip counts characters and can't be {clip}")
    return "\n".join(_line(m, clip, stop_reason=stop_reason) for m in checked(messages))


def _letter(message: Message) -> str:
    if message["role"] == "user":
        return "U"
    if message["role"] == "toolResult":
        return f"R({message['tool_call_id']})"
    ids = ",".join(block["id"] or _NO_ID for block in calls_of(message))
    return "A" + (f"[{ids}]" if ids else "") + ("(error)" if _failed(message) else "")


def _line(message: Message, clip: int, *, stop_reason: bool) -> str:
    role = message["role"]
    remarks: list[str] = []
    if role == "assistant":
        words = " + ".join(_drawn(block, clip) for block in message["content"]) or "(nothing)"
        if stop_reason:
            remarks.append(f"stop_reason={message.get('stop_reason')}")
        if _failed(message):
            remarks.append(f"error: {message.get('error_message')}")
    else:
        words = _quoted(message.get("content"), clip)
        if role == "toolResult":
            role = f"toolResult {message['tool_call_id']}"
            if message.get("is_error"):
                remarks.append("is_error")
    return f"{role} -> {words}" + "".join(f"  [{remark}]" for remark in remarks)


def _drawn(block: Block, clip: int) -> str:
    if block["type"] == "text":
        return _quoted(block["text"], clip)
    return f"toolCall {block['id'] or _NO_ID} {block['name']}({json.dumps(block['arguments'])})"


def _quoted(words: object, clip: int) -> str:
    if isinstance(words, str) and len(words) > clip:
        return json.dumps(words[:clip]) + "..."
    return json.dumps(words)


def _failed(message: Message) -> bool:
    return bool(message.get("stop_reason") == "error")
