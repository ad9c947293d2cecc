"""Lesson 9's demonstration: five files are written, and somebody speaks after the first of them."""

# ruff: noqa: T201 - printing is what a demonstration is for

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lab

if TYPE_CHECKING:
    from grader.inside.actor import Actor

    Data = dict[str, Any]

FILES = [f"{letter}.py" for letter in "abcde"]
JOB = "Write five stub modules."
STEER = "Actually, use spaces."
FOLLOW_UP = "When you are done, run the tests."
PROMPT = "Harness.prompt(…)"


def demo(actor: Actor) -> None:
    """Show the messages as they come, and then what is left: the record and the files."""
    workspace = lab.Workspace()
    shell = lab.Shell(workspace, tests_pass_when=lambda w: w.listdir(".") == FILES)
    model = lab.ScriptedModel([lab.forever(_next_step)])
    calls = model.calls
    tools = [
        actor.call("make_write_tool(…)", actor.need("make_write_tool"), workspace),
        actor.call("make_bash_tool(…)", actor.need("make_bash_tool"), shell),
    ]
    harness = actor.call("Harness(…)", actor.need("Harness"), model, actor.need("SYSTEM"), tools)
    _listen(actor, harness)
    record = _messages(actor, harness)
    print("\nthe record:", lab.shape(record))
    print("valid:", lab.validate(record) == [])
    print("on disk:", [_indent(workspace, name) for name in FILES])
    print("model calls:", len(calls))


def _listen(actor: Actor, harness: Any) -> None:
    prompt = actor.attribute("Harness", harness, "prompt")
    spoken = False
    for event in actor.events(PROMPT, actor.call(PROMPT, prompt, JOB)):
        seen = actor.plain(event)
        kind = seen.get("type") if isinstance(seen, dict) else None
        if kind == "tool_execution_end" and not spoken:
            spoken = True
            for name, words in (("steer", STEER), ("follow_up", FOLLOW_UP)):
                speak = actor.attribute("Harness", harness, name)
                actor.call(f"Harness.{name}(…)", speak, words)
        if kind == "message_end":
            print(_shown(actor, seen.get("message")))


def _shown(actor: Actor, message: Any) -> str:
    try:
        return str(lab.show([message]))
    except (TypeError, ValueError) as exc:
        raise actor.wrong(f"a message_end of {PROMPT} holds no message: {exc}") from exc


def _messages(actor: Actor, harness: Any) -> list[Data]:
    messages = actor.plain(actor.attribute("Harness", harness, "messages"))
    try:
        lab.shape(messages)
    except (TypeError, ValueError) as exc:
        raise actor.wrong(f"Harness.messages is no list of messages: {exc}") from exc
    return list(messages)


def _indent(workspace: lab.Workspace, name: str) -> str:
    if not workspace.exists(name):
        return "missing"
    return "tabs" if "\t" in workspace.read_text(name) else "spaces"


def _next_step(request: Any) -> Any:
    """The model: the tests if they are asked for and have not been run; else the next file; else done."""
    newest = request.user_text.rpartition("\n")[2]
    said = [message for message in request.messages if message["role"] == "assistant"]
    asked = [block for m in said for block in m["content"] if block["type"] == "toolCall"]
    if "tests" in newest and all(call["name"] != "bash" for call in asked):
        return lab.reply(lab.call("bash", {"command": "pytest"}))
    written = [call["arguments"].get("path") for call in asked]
    left = [name for name in FILES if name not in written]
    if left:
        indent = "    " if "spaces" in newest else "\t"
        content = f"def f():\n{indent}return 1\n"
        return lab.reply(lab.call("write", {"path": left[0], "content": content}))
    last = request.last_result
    if last is None or last["tool_name"] != "bash":
        return lab.say("All five are written.")
    return lab.say("Tests: " + last["content"].splitlines()[-1])
