"""Lesson 7's demonstration: one run of three turns, drawn by three frontends.

The first frontend is here and draws while the run goes on; the other two are the submission's, and are
fed the same events afterwards.
"""

# ruff: noqa: T201 - printing is what a demonstration is for

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import lab

if TYPE_CHECKING:
    from grader.inside.actor import Actor

LOOP = "run_agent(…)"
QUESTION = "Which port is live?"
FILES = {
    "config.py": "PORT = 9090\n",
    "backup.py": "PORT = 8080\n",
    "README.md": "The service listens on the port in config.py.\n",
}


def demo(actor: Actor) -> None:
    """Draw the run three times."""
    print("### frontend 1: a terminal display, drawn while the run happens")
    events = []
    turns = 0
    for event in actor.events(LOOP, _run(actor)):
        events.append(event)
        turns += _draw(actor, event, turns + 1)
    print("  ok: True\n")
    print(f"### frontend 2: the same {len(events)} events, as JSON lines for another program")
    _feed(actor, "JsonRenderer", events)
    print("\n### frontend 3: the same events again, as `agent > answer.txt`")
    _feed(actor, "FinalTextRenderer", events)


def _run(actor: Actor) -> Any:
    workspace = lab.Workspace(FILES)
    script = [
        lab.reply(lab.text("Two files to compare."), _read("config.py"), _read("backup.py")),
        lab.reply(lab.text("And the README, to see which one counts."), _read("README.md")),
        lab.say("config.py is the live one: port 9090. backup.py still says 8080."),
    ]
    tool = actor.call("make_read_tool(…)", actor.need("make_read_tool"), workspace)
    loop, system = actor.need("run_agent"), actor.need("SYSTEM")
    return actor.call(LOOP, loop, lab.ScriptedModel(script), system, [], [tool], QUESTION)


def _read(path: str) -> Any:
    return lab.call("read", {"path": path})


def _draw(actor: Actor, event: Any, turn: int) -> bool:
    """A line for a turn that opens, a line for a tool that came back. True for a turn."""
    seen = actor.plain(event)
    try:
        if seen["type"] == "turn_start":
            print(f"  turn {turn}")
            return True
        if seen["type"] == "tool_execution_end":
            call, result = seen["call"], seen["result"]
            size = len(result["content"])
            print(f"    {call['name']}({call['arguments']['path']}) -> {size} characters")
    except (KeyError, TypeError) as exc:
        told = json.dumps(seen)[:200]
        raise actor.wrong(f"{LOOP} gave an event that can't be drawn: {told}") from exc
    return False


def _feed(actor: Actor, name: str, events: list[Any]) -> None:
    frontend = actor.call(f"{name}()", actor.need(name))
    render = actor.attribute(name, frontend, "render")
    for event in events:
        actor.call(f"{name}.render(event)", render, event)
    finish = actor.attribute(name, frontend, "finish")
    print("  ok:", actor.plain(actor.call(f"{name}.finish()", finish)))
