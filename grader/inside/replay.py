"""Code that shows a failure again in the student's own folder: the values, the call, a print."""

from __future__ import annotations

import json
from typing import Any


def code(value: Any) -> str:
    """A plain value as Python source."""
    if isinstance(value, str):
        return json.dumps(value) if value.isprintable() and value.isascii() else repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{code(k)}: {code(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(code, value)) + "]"
    return repr(value)


def message(value: dict[str, Any]) -> str:
    """One message as a call of `lab`, where `lab` builds just that; as a dict where it doesn't."""
    if set(value) == {"role", "content"} and value["role"] == "user":
        return f"lab.user({code(value['content'])})"
    if value["role"] == "assistant" and isinstance(value["content"], list):
        blocks = [_block(block) for block in value["content"]]
        asks = any(block["type"] == "toolCall" for block in value["content"])
        usual = {"role", "content", "stop_reason"}
        if set(value) == usual and value["stop_reason"] == ("toolUse" if asks else "stop"):
            return f"lab.reply({', '.join(blocks)})"
        if set(value) == usual | {"error_message"} and value["stop_reason"] == "error":
            return f"lab.fail({', '.join([code(value['error_message']), *blocks])})"
    return code(value)


def messages(values: list[dict[str, Any]], name: str = "record") -> str:
    """A transcript as an assignment to `name`, one message to a line."""
    return f"{name} = [\n" + "".join(f"    {message(value)},\n" for value in values) + "]"


def tools(specs: list[dict[str, Any]]) -> str:
    """Tools as an assignment to `tools`, each noting in `ran` that it ran.

    Args:
        specs: as `scenes.make_tool` takes them: a name, and what it says.
    """
    lines = ["ran = []", "tools = [{"]
    for spec in specs:
        lines += [
            f'    "name": {code(spec["name"])}, "description": "A tool.",',
            '    "parameters": {"type": "object", "properties": {}},',
            f'    "execute": lambda arguments: ran.append(arguments) or {code(spec["says"])},',
            "}, {",
        ]
    lines[-1] = "}]"
    return "\n".join(lines)


def _block(block: dict[str, Any]) -> str:
    if block["type"] == "text":
        return f"lab.text({code(block['text'])})"
    made = f"lab.call({code(block['name'])}, {code(block['arguments'])}"
    return made + (")" if block["id"] is None else f", id={code(block['id'])})")
