"""What hidden tests need to speak about transcripts: their shape, what is wrong with one, where two part.

What is looked at may come from a submission. It can be anything that an observation can hold, so nothing
in here raises, whatever it is given, and every text is bounded.
"""

from __future__ import annotations

import json
from typing import Any

import lab

from grader.inside.compare import equal

__all__ = ["NO_TRANSCRIPT", "complaints", "fields_apart", "parted", "parting", "shape", "uncounted"]

NO_TRANSCRIPT = "something that is no transcript"
NO_MESSAGES = "(no messages)"
_CLIP = 40  # characters of a message's words, where it is only named
_MAX_CALLS = 4  # ids that are named
# What `lab` raises for something that is no transcript.
_ODD = (TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError)


def shape(messages: Any) -> str:
    """`lab.shape`, or words for what is no transcript, or for one that is empty."""
    try:
        return lab.shape(messages) or NO_MESSAGES
    except _ODD:
        return NO_TRANSCRIPT


def complaints(messages: Any) -> list[str]:
    """What a provider would complain about: nothing, where the transcript is valid."""
    try:
        return list(lab.validate(messages))
    except _ODD as exc:
        return [f"it is no transcript: {exc}"[:500]]


def uncounted(value: Any) -> Any:
    """Messages without `usage`: what a reply has cost is the model's to say, and no matter of the rules."""
    if isinstance(value, list):
        return [uncounted(item) for item in value]
    if isinstance(value, dict) and value.get("role") == "assistant":
        return {key: item for key, item in value.items() if key != "usage"}
    return value


def parted(seen: Any, wanted: list[Any]) -> int:
    """How many messages two transcripts share at their beginning."""
    items = seen if isinstance(seen, list) else []
    pairs = zip(items, wanted, strict=False)
    return next(
        (at for at, (a, b) in enumerate(pairs) if not equal(a, b)), min(len(items), len(wanted))
    )


def parting(seen: Any, wanted: list[Any]) -> str:
    """Where a transcript leaves the one that is due, as one or two sentences.

    Args:
        seen: what came.
        wanted: what is due; a transcript of the test's own.
    """
    at = parted(seen, wanted)
    items = seen if isinstance(seen, list) else []
    due = named(wanted[at]) if at < len(wanted) else "the end"
    came = named(items[at]) if at < len(items) else "the end"
    if due == came and at < len(wanted):
        fields = fields_apart(items[at], wanted[at])
        added = [field for field in fields if field not in wanted[at]]
        came = f"one that also holds {' and '.join(added)}"
        if not added:
            came = f"one with another {' and '.join(fields)}"
    right = f"All is right up to {named(wanted[at - 1])}. Then" if at else "At the beginning"
    return f"{right} {due} was due, and {came} came{_refused(items[at : at + 1])}."


def fields_apart(one: Any, other: Any) -> list[str]:
    """The names of the fields in which two messages differ."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return ["form"]
    names = dict.fromkeys((*other, *one))
    return [name[:_CLIP] for name in names if not equal(one.get(name, ...), other.get(name, ...))]


def named(message: Any) -> str:
    """A message, in the middle of a sentence."""
    role = message.get("role") if isinstance(message, dict) else None
    if role == "user":
        return f"the user's {_clipped(message.get('content'))}"
    if role == "toolResult":
        return f"the result of {str(message.get('tool_call_id'))[:_CLIP]}"
    if role == "assistant" and isinstance(message.get("content"), list):
        return _reply(message)
    return "something that is no message"


def _reply(message: dict[str, Any]) -> str:
    if message.get("stop_reason") == "error":
        return "a reply that failed"
    blocks = [block for block in message["content"] if isinstance(block, dict)]
    ids = [str(block.get("id"))[:_CLIP] for block in blocks if block.get("type") == "toolCall"]
    if ids:
        more = f" and {len(ids) - _MAX_CALLS} more" if len(ids) > _MAX_CALLS else ""
        return f"the reply that asks for {', '.join(ids[:_MAX_CALLS])}{more}"
    return f"the reply {_clipped(''.join(str(block.get('text')) for block in blocks))}"


def _clipped(words: Any) -> str:
    text = words if isinstance(words, str) else str(words)
    return json.dumps(text if len(text) <= _CLIP else text[:_CLIP] + "…", ensure_ascii=False)


def _refused(items: list[Any]) -> str:
    """Why the reply that came instead had failed, where the model said so."""
    reason = items[0].get("error_message") if items and isinstance(items[0], dict) else None
    if not isinstance(reason, str):
        return ""
    if reason.startswith("script exhausted"):
        return " (the model was called more often than this job needs)"
    return f" ({reason[:200]})"
