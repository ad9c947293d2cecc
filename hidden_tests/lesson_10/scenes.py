"""The scenes of lesson 10: transcripts handed to the repair, and sessions with somebody who walks away.

Each writes down what happened and concludes nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import lab

if TYPE_CHECKING:
    from grader.inside.actor import Actor

    Data = dict[str, Any]


def constant(actor: Actor, name: str) -> Data:
    """The value of a name at the top level of the file."""
    return {"value": actor.plain(actor.need(name))}


def repair(actor: Actor, function: str, records: list[Any], *, received: bool) -> list[Data]:
    """Hand each record to `function`, all in one process; `received`: as it is when read from JSON."""
    mend = actor.need(function)
    records = json.loads(json.dumps(records)) if received else records
    return [_mended(actor, function, mend, record) for record in records]


def _mended(actor: Actor, function: str, mend: Any, record: list[Any]) -> Data:
    before = list(record)
    view = actor.call(f"{function}(record)", mend, record)
    items = _items(actor, function, view)
    return {
        "items": actor.plain(items),
        "same": actor.same(items, before),
        "is_input": view is record,
        "record": actor.plain(record),
        "kept": actor.same(record, before),
    }


def repair_twice(actor: Actor, function: str, record: list[Any]) -> Data:
    """Hand a record to `function`, and then what came back."""
    mend = actor.need(function)
    view = actor.call(f"{function}(record)", mend, record)
    first = _items(actor, function, view)
    written = actor.plain(first)
    twice = f"{function}({function}(record))"
    again = _items(actor, twice, actor.call(twice, mend, view))
    return {
        "first": written,
        "twins": actor.same(first, first),  # an object may stand in two places
        "again": actor.plain(again),
        "same": actor.same(again, first),
    }


def _items(actor: Actor, what: str, view: Any) -> list[Any]:
    """The items of a list that the submission handed back; anything but a list is its own fault."""
    if issubclass(type(view), list):
        return list(list.__iter__(view))
    raise actor.wrong(f"{what} returned {_kind(view)}, not a list")


def _kind(value: Any) -> str:
    name = type(value).__name__[:80]
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def sessions(actor: Actor, plays: list[Data]) -> list[Data]:
    """Hold each conversation with a Harness of its own, all in one process."""
    return [_session(actor, play) for play in plays]


def _session(actor: Actor, play: Data) -> Data:
    ran: list[Any] = []
    model = lab.ScriptedModel([lab.forever(_script(play["turns"]))])
    calls = model.calls  # our own reference: the submission is handed the model
    tools = [_tool(actor, spec, ran) for spec in play["tools"]]
    history = {} if play["messages"] is None else {"messages": play["messages"]}
    system = actor.need("SYSTEM")
    harness = actor.call("Harness(…)", actor.need("Harness"), model, system, tools, **history)
    return {
        "steps": [_step(actor, harness, turn, ran) for turn in play["turns"]],
        "requests": [
            actor.plain(actor.attribute("a request of the model's", request, "messages"))
            for request in list.__iter__(calls)
        ],
        "loaded": actor.plain(play["messages"]),
    }


def _step(actor: Actor, harness: Any, turn: Data, ran: list[Any]) -> Data:
    run = actor.call("prompt(…)", actor.attribute("the Harness", harness, "prompt"), turn["prompt"])
    for event in actor.events("prompt(…)", run, turn.get("stop_after")):
        kind = event.get("type") if issubclass(type(event), dict) else None
        if kind is not None and kind == turn.get("stop_on"):
            actor.call("close() on the run", actor.attribute("the run", run, "close"))
            break
    messages = actor.attribute("the Harness", harness, "messages")
    if not issubclass(type(messages), (list, tuple)):
        raise actor.wrong(f"h.messages is {_kind(messages)}, not a tuple of messages")
    return {"record": actor.plain(messages), "ran": list(ran)}


def _script(turns: list[Data]) -> Any:
    """A model that answers the newest prompt: with its first reply, then with the next, and so on."""

    def answer(request: Any) -> Any:
        at, replies = _newest(request.messages, turns)
        done = sum(m["role"] == "assistant" for m in request.messages[at:])
        return replies[done] if done < len(replies) else lab.fail("nothing more is planned here")

    return answer


def _newest(messages: list[Any], turns: list[Data]) -> tuple[int, list[Any]]:
    """Where the newest prompt stands in a request, whatever was written around it, and its replies."""
    for at, message in reversed(list(enumerate(messages))):
        said = message["content"] if message["role"] == "user" else ""
        for turn in reversed(turns):
            if turn["prompt"] in str(said):
                return at, turn["replies"]
    return 0, []


def _tool(actor: Actor, spec: Data, ran: list[Any]) -> Data:
    def execute(arguments: Any) -> str:
        ran.append({"tool": spec["name"], "arguments": actor.plain(arguments)})
        return str(spec["says"])

    return {
        "name": spec["name"],
        "description": "A tool.",
        "parameters": {"type": "object", "properties": {}},
        "execute": execute,
    }
