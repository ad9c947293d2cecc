"""The shapes of a conversation, and the small functions that build them.

A message is a plain dict with a ``role``; an assistant message holds a list of blocks, each a plain
dict with a ``type``. Key order is part of the shape, because a request is counted and drawn as JSON
(page 7, "One run of a three-turn job").
"""

from __future__ import annotations

TYPE_CHECKING = False  # a checker reads this as true; importing typing would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Block = dict[str, Any]
    Message = dict[str, Any]

__all__ = ["call", "calls_of", "checked", "fail", "reply", "say", "text", "tool_result", "user"]

_ROLES = ("user", "assistant", "toolResult")
_BLOCKS = ("text", "toolCall")


def text(words: str) -> Block:
    """Build a block of words.

    Raises:
        TypeError: ``words`` is not a string.
    """
    return {"type": "text", "text": _string(words, "text() takes")}


def call(
    name: str,
    arguments: dict[str, Any],
    *,
    id: str | None = None,  # noqa: A002 - the name on the pages
) -> Block:
    """Build a block that asks for a tool.

    Args:
        name: the tool asked for.
        arguments: what it is asked with. Kept as it is, not copied.
        id: the call's id. Without one the block holds None, and the ``ScriptedModel`` that answers
            with it puts the next id of its own in a copy.

    Raises:
        TypeError: an argument is of another type.
    """
    _string(name, "call() takes a name that is")
    if not isinstance(arguments, dict):
        raise TypeError(f"call() takes arguments as a dict, not {_kind(arguments)}")
    if id is not None:
        _string(id, "call() takes an id that is")
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def reply(*blocks: Block) -> Message:
    """Build an assistant message that arrived whole; it stops for its calls if it has any.

    Raises:
        TypeError: a block is not a dict.
        ValueError: a block is of no known type.
    """
    content = [_block(block, f"reply() block {at}") for at, block in enumerate(blocks)]
    asks = any(block["type"] == "toolCall" for block in content)
    return {"role": "assistant", "content": content, "stop_reason": "toolUse" if asks else "stop"}


def say(words: str) -> Message:
    """Build an assistant message that holds only words."""
    return reply(text(words))


def fail(reason: str, *blocks: Block) -> Message:
    """Build an assistant message that failed, with what had arrived by then (page 10, Card 5).

    Args:
        reason: what goes into ``error_message``.
        blocks: the part that got out, usually nothing.

    Raises:
        TypeError: the reason is not a string, or a block is not a dict.
        ValueError: a block is of no known type.
    """
    content = [_block(block, f"fail() block {at}") for at, block in enumerate(blocks)]
    return {
        "role": "assistant",
        "content": content,
        "stop_reason": "error",
        "error_message": _string(reason, "fail() takes a reason that is"),
    }


def user(words: str) -> Message:
    """Build a message from the user.

    Raises:
        TypeError: ``words`` is not a string.
    """
    return {"role": "user", "content": _string(words, "user() takes")}


def tool_result(call: Block, content: str, *, is_error: bool = False) -> Message:
    """Build the message that answers ``call`` (its five keys: page 7, "frontend 2").

    Raises:
        TypeError: ``call`` is not a block, or ``content`` not a string.
        ValueError: ``call`` is not a toolCall, or has no id yet.
    """
    block = _block(call, "tool_result()'s call")
    if block["type"] != "toolCall":
        raise ValueError(f"tool_result() answers a toolCall, not a {block['type']} block")
    if block["id"] is None:
        raise ValueError(f"the call of {block['name']} has no id to answer: use call(..., id=...)")
    return {
        "role": "toolResult",
        "tool_call_id": block["id"],
        "tool_name": block["name"],
        "content": _string(content, "tool_result() takes content that is"),
        "is_error": is_error,
    }


def calls_of(message: Message) -> list[Block]:
    """List the toolCall blocks of an assistant message, in the order they were written."""
    return [block for block in message["content"] if block["type"] == "toolCall"]


def checked(messages: Sequence[Message], *, needs_ids: bool = False) -> list[Message]:
    """Copy a list of messages, once each is known to have what the lab reads of it.

    Only the frame is looked at: roles, blocks and ids. Whether the calls and results pair up is
    ``validate``'s question. The copy holds the same message objects.

    Args:
        messages: a list or a tuple.
        needs_ids: whether a call whose id is still None is an error.

    Raises:
        TypeError: something is of another type than a transcript has there; the text says where.
        ValueError: an unknown role or block, a key that is missing, or (see above) no id.
    """
    if not isinstance(messages, (list, tuple)):
        raise TypeError(f"a transcript is a list of messages, not {_kind(messages)}")
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if not isinstance(message, dict):
            raise TypeError(f"{where} is {_kind(message)}, not a message (a dict with a role)")
        role = message.get("role")
        if not (isinstance(role, str) and role in _ROLES):
            raise ValueError(f"{where} has the role {role!r}; known are {', '.join(_ROLES)}")
        if role == "assistant":
            _check_content(message, where, needs_ids=needs_ids)
        elif role == "toolResult":
            answers = message.get("tool_call_id")
            _string(answers, f"{where}: a toolResult has a tool_call_id that is")
    return list(messages)


def _check_content(message: Message, where: str, *, needs_ids: bool) -> None:
    content = message.get("content")
    if not isinstance(content, list):
        raise TypeError(f"{where}: assistant content is a list of blocks, not {_kind(content)}")
    for at, item in enumerate(content):
        block = _block(item, f"{where}.content[{at}]")
        if needs_ids and block["type"] == "toolCall" and block["id"] is None:
            name = block["name"]
            raise ValueError(f"{where}: the call of {name} has no id: use call(..., id=...)")


def _block(block: object, where: str) -> Block:
    if not isinstance(block, dict):
        raise TypeError(f"{where} is {_kind(block)}, not a block (a dict with a type)")
    kind = block.get("type")
    if not (isinstance(kind, str) and kind in _BLOCKS):
        raise ValueError(f"{where} has the type {kind!r}; known are {', '.join(_BLOCKS)}")
    if kind == "text":
        _string(block.get("text"), f"{where}: a text block has a text that is")
        return block
    for key in ("id", "name", "arguments"):
        if key not in block:
            raise ValueError(f"{where}: a toolCall without the key {key!r}")
    if block["id"] is not None:
        _string(block["id"], f"{where}: a toolCall has an id that is")
    return block


def _string(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} a string, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
