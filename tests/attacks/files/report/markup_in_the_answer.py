"""The same in messages, ids and names of tools."""

_TEXT = "</pre><script>alert(1)</script>]]>\n```\n# passed\n"


def _attack(messages):
    return [{"role": "toolResult", "tool_call_id": _TEXT, "tool_name": _TEXT, "content": _TEXT, _TEXT: _TEXT}]
