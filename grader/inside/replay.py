"""Code that shows a failure again in the student's own folder: the values, the call, a print."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 96  # columns; a longer line is broken at its brackets
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_RESULT = {"role", "tool_call_id", "tool_name", "content", "is_error"}
# A tool that lessons' replays make theirs with.
MAKE_TOOL = """\
def tool(name, execute):
    return {"name": name, "description": "A tool.", "parameters": {}, "execute": execute}
"""


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
        return _reply(value)
    if set(value) == _RESULT and isinstance(value["is_error"], bool):
        call = f"lab.call({code(value['tool_name'])}, {{}}, id={code(value['tool_call_id'])})"
        failed = ", is_error=True" if value["is_error"] else ""
        return f"lab.tool_result({call}, {code(value['content'])}{failed})"
    return code(value)


def _reply(value: dict[str, Any]) -> str:
    if "usage" in value:
        rest = {key: item for key, item in value.items() if key != "usage"}
        return f'{{**{message(rest)}, "usage": {code(value["usage"])}}}'
    content = value["content"]
    blocks = [_block(block) for block in content]
    asks = any(block["type"] == "toolCall" for block in content)
    usual = {"role", "content", "stop_reason"}
    if set(value) == usual and value["stop_reason"] == ("toolUse" if asks else "stop"):
        if len(content) == 1 and not asks:
            return f"lab.say({code(content[0]['text'])})"
        return f"lab.reply({', '.join(blocks)})"
    if set(value) == usual | {"error_message"} and value["stop_reason"] == "error":
        return f"lab.fail({', '.join([code(value['error_message']), *blocks])})"
    return code(value)


def messages(values: list[dict[str, Any]], name: str = "record") -> str:
    """A transcript as an assignment to `name`, one message to a line."""
    return listed(name, map(message, values))


def listed(name: str, items: Any, opening: str = "[", closing: str = "]") -> str:
    """An assignment of a list, one item to a line."""
    lines = [wrapped(f"    {item},") for item in items]
    return "\n".join([f"{name} = {opening}", *lines, closing]) if lines else f"{name} = []"


def tools(specs: list[dict[str, Any]], *, noted: bool = True) -> str:
    """Tools as an assignment to `tools`.

    Args:
        specs: as scenes take them: a name and what it says, or what it raises.
        noted: whether each notes in `ran` that it ran.
    """
    lines = [MAKE_TOOL]
    for spec in specs:
        if "raises" in spec:
            lines += [
                "def broken(arguments):",
                f"    raise {spec['raises']}({code(spec['says'])})\n",
            ]
    if noted:
        lines.append("ran = []")
    note = "ran.append(arguments) or " if noted else ""
    made = [
        f"tool({code(spec['name'])}, "
        + ("broken)" if "raises" in spec else f"lambda arguments: {note}{code(spec['says'])})")
        for spec in specs
    ]
    return "\n".join([*lines, wrapped(f"tools = [{', '.join(made)}]")])


def wrapped(lines: str) -> str:
    """Code in which a line that is too long is broken at its widest brackets."""
    return "\n".join(map(_wrapped, lines.split("\n")))


def _wrapped(line: str) -> str:
    found = _widest(line) if len(line) > WIDTH else None
    if found is None:
        return line
    start, end = found
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    lines, rest = [line[: start + 1]], line[end:]
    row = indent
    for item in _items(line[start + 1 : end]):
        if row != indent and len(row) + len(item) + 2 > WIDTH:
            lines.append(_wrapped(row.rstrip()))
            row = indent
        row += f"{item}, "
    return "\n".join([*lines, _wrapped(row.removesuffix(", ") + rest)])


def _widest(line: str) -> tuple[int, int] | None:
    """Where the outermost brackets with the longest content open and close."""
    pairs, opened = [], list[int]()
    for at, char in _outside_strings(line):
        if char in _PAIRS:
            opened.append(at)
        elif char in _PAIRS.values() and opened:
            start = opened.pop()
            if not opened and len(line[start + 1 : at].strip()) > 1:
                pairs.append((start, at))
    start, end = max(pairs, key=lambda pair: pair[1] - pair[0], default=(0, 0))
    if not end:
        return None
    inner = _widest(line[start + 1 : end])
    if inner == (0, end - start - 2):  # one pair right inside of the other
        return start + 1, end - 1
    return start, end


def _items(body: str) -> list[str]:
    """What the commas outside of any brackets part."""
    items, start, depth = [], 0, 0
    for at, char in _outside_strings(body):
        depth += (char in _PAIRS) - (char in _PAIRS.values())
        if char == "," and depth == 0:
            items.append(body[start:at].strip())
            start = at + 1
    return [*items, body[start:].strip()] if body[start:].strip() else items


def _outside_strings(text: str) -> list[tuple[int, str]]:
    found, quote, escaped = [], "", False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        else:
            found.append((at, char))
    return found


def _block(block: dict[str, Any]) -> str:
    if block["type"] == "text":
        return f"lab.text({code(block['text'])})"
    made = f"lab.call({code(block['name'])}, {code(block['arguments'])}"
    return made + (")" if block["id"] is None else f", id={code(block['id'])})")
