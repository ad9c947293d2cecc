"""What hidden tests need to speak about transcripts and events: shapes, what is wrong, where two part.

What is looked at may come from a submission. It can be anything that an observation can hold, so nothing
in here raises, whatever it is given, and every text is bounded.
"""

from __future__ import annotations

import difflib
import json
from typing import Any

import lab

from grader.inside.compare import Line, cut, equal, what_is
from grader.inside.plain import NOT_PLAIN

__all__ = [
    "NO_TRANSCRIPT",
    "apart",
    "complaints",
    "events_apart",
    "fields_apart",
    "labels",
    "named",
    "parted",
    "shape",
    "uncounted",
]

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


def apart(what: str, seen: Any, wanted: list[Any]) -> str:
    """How a transcript differs from the one that is due, as a sentence about `what`.

    Args:
        what: what the transcript is, as in "the record".
        seen: what came.
        wanted: what is due; a transcript of the test's own.
    """
    if not isinstance(seen, list):
        return f"{what} is {what_is(seen)}, not a list of messages."
    at = parted(seen, wanted)
    due, came = named(wanted[at]) if at < len(wanted) else "", ""
    if at < len(seen):
        came = named(seen[at]) + _refused(seen[at])
    behind = f"right behind {named(wanted[at - 1])}" if at else "at its beginning"
    if at == len(seen):
        return f"{what} ends too early: {due} was due {behind}."
    many = len(seen) - len(wanted)
    if many > 0 and equal(seen[at + many :], wanted[at:]):
        more = "one message too many" if many == 1 else f"{many} messages too many"
        return f"{what} holds {more}, {behind}: {came}{'.' if many == 1 else ', and so on.'}"
    if many < 0 and equal(seen[at:], wanted[at - many :]):
        rest = "" if many == -1 else f" and {-many - 1} more"
        return f"{what} lacks {due}{rest}, {behind}."
    return _changed(what, seen[at], wanted[at], behind)


def _changed(what: str, message: Any, wanted: Any, behind: str) -> str:
    """What is due in a place, and what came there."""
    what, due, came = what.rstrip(","), named(wanted), named(message)
    if due == came:
        fields = fields_apart(message, wanted)
        added = [field for field in fields if field not in wanted]
        how = (
            f"also holds {' and '.join(added)}" if added else f"has another {' and '.join(fields)}"
        )
        return f"in {what}, {due} {how}."
    return f"in {what}, {due} was due {behind}, and {came}{_refused(message)} came."


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
        return f"the result of {cut(str(message.get('tool_call_id')), _CLIP)}"
    if role == "assistant" and isinstance(message.get("content"), list):
        return _reply(message)
    return f"something that is no message ({what_is(message)})"


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


def _refused(message: Any) -> str:
    """Why the reply that came instead had failed, where the model said so."""
    reason = message.get("error_message") if isinstance(message, dict) else None
    if not isinstance(reason, str):
        return ""
    if reason.startswith("script exhausted"):
        return " (the lab's model had no reply left: it was called more often than this job needs)"
    return f" ({cut(reason, 200)})"


# --- events ---------------------------------------------------------------------------------------


def labels(events: Any) -> list[str]:
    """A line for each event: its type, and whose message or which call it is about."""
    return [Line(_label(event).encode("unicode_escape").decode()) for event in events]


def events_apart(seen: Any, wanted: list[Any], record: Any) -> str:
    """The first thing in which a run's events differ from those that are due, as a sentence.

    Args:
        seen: the events that came.
        wanted: those that are due.
        record: the record as it is after the run.
    """
    came, due = labels(seen), labels(wanted)
    ways = [
        way
        for way in difflib.SequenceMatcher(None, due, came, autojunk=False).get_opcodes()
        if way[0] != "equal"
    ]
    if not ways:
        return "the events come in the right order, but one of them carries something else than it should."
    tag, a, b, c, d = ways[0]
    turn = due[:a].count("turn_start")
    if c == len(came):
        return f"the run ended after {c} event{'' if c == 1 else 's'}; {due[a]} was due next."
    if a == len(due):
        return f"the run went on after event {c}; with that {due[-1]} it is over."
    moved = {*due[a:b]} & {*came[d:]} or {*came[c:d]} & {*due[b:]}
    if tag == "delete" and not moved:
        return _missing(wanted[a], due[a], turn, record)
    if tag == "insert" and not moved:
        return f"event {c + 1}, {came[c]}, should not be there; {due[a]} was due."
    at = next((i for i, (x, y) in enumerate(zip(came, due, strict=False)) if x != y), a)
    return f"event {at + 1} is {came[at]}, where {due[at]} was due."


def _missing(event: Any, label: str, turn: int, record: Any) -> str:
    when = f"in turn {turn}" if turn else "before the first turn"
    if event.get("type") != "message_end":
        return f"{when} {label} is missing."
    message = event["message"]
    there = isinstance(record, list) and any(equal(uncounted(m), message) for m in record)
    if there:
        return f"{when} {named(message)} is on the record, but no message_end announced it."
    return f"{when} the message_end for {named(message)} is missing, and so is the message itself."


def _label(event: Any) -> str:
    if not isinstance(event, dict):
        return f"(no event: {cut(json.dumps(event), 60)})"
    if NOT_PLAIN in event:
        return f"(no event: {event[NOT_PLAIN]})"
    kind = event.get("type")
    if not isinstance(kind, str):
        return f"(an event without a type: {cut(json.dumps(event), 60)})"
    if kind == "message_end":
        return f"{kind} ({_whose(event)})"
    call = event.get("call")
    if kind.startswith("tool_execution") and isinstance(call, dict):
        return cut(f"{kind} {call.get('id')}", _CLIP)
    return cut(kind, _CLIP)


def _whose(event: dict[str, Any]) -> str:
    message = event.get("message", ...)
    if message is ...:
        return "without a message"
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str):
        return what_is(message)
    if role == "toolResult":
        return f"{role} {cut(str(message.get('tool_call_id')), _CLIP)}"
    return cut(role, _CLIP)
