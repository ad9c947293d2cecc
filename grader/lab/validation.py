"""What a strict provider says about a transcript.

The one law: every call is followed at once by exactly one result, in call order (page 10, "Build").
"""

from __future__ import annotations

from .messages import calls_of, checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .messages import Message

__all__ = ["validate"]


def validate(messages: Sequence[Message]) -> list[str]:
    """List every complaint a provider has about these messages; none means that it takes them.

    Complaints come in order of message index, and an assistant message's own in this order: empty
    content, ids used before, calls without a result. The wording is that of page 10 (the cards, and
    the reused id near its end). The calls of a failed reply need results like any other (page 10,
    Card 5).

    The pages leave open what else is said about a list that is already refused. Here: the results
    that stand directly behind a reply are read from left to right, and one is in its place when its
    call comes later than the calls of those before it. A result out of its place doesn't answer its
    call, so that late and out of order are told alike: the call has no result, and the result must
    directly follow. A result belongs to the newest call that has its id.

    Args:
        messages: a list or tuple of messages; nothing in it is changed.

    Raises:
        TypeError, ValueError: it is not a list of messages at all (see ``messages.checked``), or a
            call in it has no id.
    """
    transcript = checked(messages, needs_ids=True)
    complaints: list[str] = []
    asked: set[str] = set()
    recorded: set[str] = set()
    in_place: set[int] = set()
    for index, message in enumerate(transcript):
        said: list[str] = []
        if message["role"] == "assistant":
            ids = [block["id"] for block in calls_of(message)]
            places = _places(ids, _results_behind(transcript, index))
            in_place.update(index + 1 + offset for offset in places)
            said = _about_reply(message, ids, set(places.values()), asked)
            asked.update(ids)
            recorded.difference_update(ids)
        elif message["role"] == "toolResult":
            answers = message["tool_call_id"]
            if index not in in_place:
                said = [_about_stray(answers, asked, recorded)]
            recorded.add(answers)
        complaints += [f"messages[{index}]: {words}" for words in said]
    return complaints


def _results_behind(transcript: list[Message], index: int) -> list[str]:
    """Give the call ids of the unbroken row of results right behind the message at ``index``."""
    ids: list[str] = []
    for behind in range(index + 1, len(transcript)):
        if transcript[behind]["role"] != "toolResult":
            break
        ids.append(transcript[behind]["tool_call_id"])
    return ids


def _places(calls: list[str], results: list[str]) -> dict[int, int]:
    """Pair results with calls: the offset of each result that is in its place -> its call's."""
    waiting: dict[str, list[int]] = {}
    for at in range(len(calls) - 1, -1, -1):
        waiting.setdefault(calls[at], []).append(at)
    places: dict[int, int] = {}
    free = 0
    for offset, answers in enumerate(results):
        after = waiting.get(answers, [])
        while after and after[-1] < free:
            after.pop()
        if after:
            places[offset] = after.pop()
            free = places[offset] + 1
    return places


def _about_reply(
    message: Message, ids: list[str], answered: set[int], asked: set[str]
) -> list[str]:
    said = [] if message["content"] else ["assistant message has empty content"]
    used = set(asked)
    for name in ids:
        if name in used:
            said.append(f"toolCall id {name} is used twice in this request")
        used.add(name)
    unanswered = [name for at, name in enumerate(ids) if at not in answered]
    said += [f"toolCall {name} has no toolResult" for name in unanswered]
    return said


def _about_stray(answers: str, asked: set[str], recorded: set[str]) -> str:
    if answers not in asked:
        return f"toolResult {answers} has no toolCall before it"
    if answers in recorded:
        return f"toolResult {answers} is a second result for a call that already has one"
    return f"toolResult {answers} must directly follow its assistant message, in call order"
