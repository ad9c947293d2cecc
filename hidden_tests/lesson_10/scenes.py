"""The scenes of lesson 10: transcripts handed to the repair, and sessions with somebody who walks away.

Each writes down what happened and concludes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lab

if TYPE_CHECKING:
    from grader.inside.actor import Actor

    Data = dict[str, Any]


def repair(actor: Actor, function: str, records: list[Any], needs: list[str]) -> Data:
    """Hand each record to `function` and its answer to it again, all in one process."""
    names = {name: actor.plain(actor.need(name)) for name in needs}
    mend = actor.need(function)
    return {"names": names, "repairs": [_mended(actor, function, mend, r) for r in records]}


def _mended(actor: Actor, function: str, mend: Any, record: list[Any]) -> Data:
    before = list(record)
    view = actor.call(f"{function}(record)", mend, record)
    seen = {
        "view": _items(actor, view, before),
        "is_input": view is record,
        "record": actor.plain(record),
        "kept": actor.same(record, before),
    }
    if seen["view"]["is_list"]:
        first = list(list.__iter__(view))
        again = actor.call(f"{function}({function}(record))", mend, view)
        seen["again"] = _items(actor, again, first)
        seen["first_after"] = actor.plain(view)
    return seen


def _items(actor: Actor, view: Any, among: list[Any]) -> Data:
    """A list's items, and which of them are which objects of `among`, or of the list itself."""
    is_list = issubclass(type(view), list)
    items = list(list.__iter__(view)) if is_list else []
    return {
        "is_list": is_list,
        "items": actor.plain(items),
        "what": _what(view),
        "same": actor.same(items, among),
        "twins": actor.same(items, items),
    }


def _what(view: Any) -> str:
    return "None" if view is None else f"a {type(view).__name__}"


def sessions(actor: Actor, plays: list[Data]) -> list[Data]:
    """Hold each conversation with a Harness of its own, all in one process."""
    return [_session(actor, play) for play in plays]


def _session(actor: Actor, play: Data) -> Data:
    ran: list[Any] = []
    model = lab.ScriptedModel([lab.forever(_script(play["answers"]))])
    tools = [_tool(actor, spec, ran) for spec in play["tools"]]
    messages = play.get("messages")
    given = {} if messages is None else {"messages": messages}
    harness = actor.call(
        "Harness(…)", actor.need("Harness"), model, actor.need("SYSTEM"), tools, **given
    )
    steps = [_step(actor, harness, step) for step in play["steps"]]
    return {
        "steps": steps,
        "ran": ran,
        "requests": [actor.plain(request.messages) for request in model.calls],
        "given": actor.plain(messages),
    }


def _step(actor: Actor, harness: Any, step: Data) -> Data:
    prompt = actor.attribute("the Harness", harness, "prompt")
    run = actor.call("prompt(…)", prompt, step["prompt"])
    types: list[Any] = []
    events = actor.events("prompt(…)", run, step.get("stop_after"))
    for event in events:
        kind = event.get("type") if issubclass(type(event), dict) else None
        types.append(actor.plain(kind))
        if kind is not None and kind == step.get("stop_on"):
            actor.call("close() on the run", actor.attribute("the run", run, "close"))
            break
    record = actor.attribute("the Harness", harness, "messages")
    return {"events": types, "record": actor.plain(record)}


def _script(answers: list[Data]) -> Any:
    """A model that answers the newest prompt: with its first reply, then with the next, and so on."""
    replies = {entry["said"]: entry["replies"] for entry in answers}

    def answer(request: Any) -> Any:
        newest = max(i for i, m in enumerate(request.messages) if m["role"] == "user")
        done = sum(m["role"] == "assistant" for m in request.messages[newest:])
        planned = replies.get(request.messages[newest]["content"], [])
        return planned[done] if done < len(planned) else lab.fail("nothing more is planned here")

    return answer


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
