"""Lesson 10's demonstration: a job of three steps is left at three moments, and two prompts follow each."""

# ruff: noqa: T201 - printing is what a demonstration is for

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lab

if TYPE_CHECKING:
    from grader.inside.actor import Actor

    Data = dict[str, Any]

JOB = "Do the job."
AFTERWARDS = ("Never mind, what is in config.py?", "And main.py?")
MOMENTS = (5, 8, 14)
EVENTS = 21  # of the job, if it is heard out
PROMPT = "Harness.prompt(…)"


def demo(actor: Actor) -> None:
    """Six lines for each moment."""
    for moment in MOMENTS:
        _left_at(actor, moment)


def _left_at(actor: Actor, moment: int) -> None:
    ran: list[Any] = []
    model = lab.ScriptedModel([lab.forever(_next_step)])
    calls = model.calls
    harness = actor.call(
        "Harness(…)", actor.need("Harness"), model, actor.need("SYSTEM"), [_step(ran)]
    )
    last = _heard(actor, harness, JOB, moment)
    left = lab.shape(_messages(actor, harness))
    for words in AFTERWARDS:
        _heard(actor, harness, words, None)
    record = _messages(actor, harness)
    made_up = _made_up(record, calls, actor.plain(actor.need("INTERRUPTED")))
    refused = any(message.get("stop_reason") == "error" for message in record)
    print(f"walked away at event {moment} of {EVENTS}, on {last}")
    print(f"   steps that ran:             {ran}")
    print(f"   the record it left:         {left}")
    print(f"   two prompts later:          {'refused' if refused else 'answered, answered'}")
    print(f"   the record now:             {lab.shape(record)}")
    print(f"   steps shown as interrupted: {made_up}")
    print(f"   ... that really ran:        {[number for number in made_up if number in ran]}")


def _heard(actor: Actor, harness: Any, words: str, stop_after: int | None) -> str:
    """Listen to a run, up to some event; give the type of the last one."""
    prompt = actor.attribute("Harness", harness, "prompt")
    seen: Any = None
    for event in actor.events(PROMPT, actor.call(PROMPT, prompt, words), stop_after):
        seen = actor.plain(event)
    return str(seen.get("type")) if isinstance(seen, dict) else "nothing"


def _messages(actor: Actor, harness: Any) -> list[Data]:
    messages = actor.plain(actor.attribute("Harness", harness, "messages"))
    try:
        lab.shape(messages)
    except (TypeError, ValueError) as exc:
        raise actor.wrong(f"Harness.messages is no list of messages: {exc}") from exc
    return list(messages)


def _made_up(record: list[Data], calls: list[Any], interrupted: Any) -> list[Any]:
    """The steps that some request showed as interrupted."""
    said = [message for message in record if message["role"] == "assistant"]
    blocks = [block for m in said for block in m["content"] if block["type"] == "toolCall"]
    steps = {block["id"]: block["arguments"].get("n") for block in blocks}
    sent = [message for request in calls for message in request.messages]
    results = [message for message in sent if message["role"] == "toolResult"]
    told = [m["tool_call_id"] for m in results if m.get("content") == interrupted]
    return sorted({steps.get(name) for name in told}, key=str)


def _step(ran: list[Any]) -> Data:
    def execute(arguments: Data) -> str:
        ran.append(arguments["n"])
        return f"step {arguments['n']}: ok"

    number = {"type": "integer", "description": "Which step."}
    return {
        "name": "step",
        "description": "Do one step of the job.",
        "parameters": {"type": "object", "properties": {"n": number}, "required": ["n"]},
        "execute": execute,
    }


def _next_step(request: Any) -> Any:
    """The model: two steps, a third, done. Any other prompt is answered in words."""
    said = [message["content"] for message in request.messages if message["role"] == "user"]
    if said[-1] != JOB:
        return lab.say("Carrying on.")
    done = [message for message in request.messages if message["role"] == "toolResult"]
    if len(done) >= 3:
        return lab.say("Done.")
    if len(done) == 2:
        return lab.reply(lab.text("One more."), lab.call("step", {"n": 3}))
    return lab.reply(
        lab.text("Two steps first."), lab.call("step", {"n": 1}), lab.call("step", {"n": 2})
    )
