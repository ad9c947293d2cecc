"""Five transcripts that no provider takes, each broken in one way of its own (page 10, the cards).

They are literals and need no import, so that the same file is ``damaged.py`` in a student's kit.
Look at them, don't change them: each name is one list, shared by everybody who imports this.
"""

__all__ = [
    "duplicate_result",
    "failed_reply_with_a_call",
    "late_result",
    "missing_result",
    "orphan_result",
]

missing_result: list[dict[str, object]] = [
    {"role": "user", "content": "Reformat main.py and run the tests."},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Reading it, then the tests."},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "main.py"}},
            {"type": "toolCall", "id": "c2", "name": "bash", "arguments": {"command": "pytest"}},
        ],
        "stop_reason": "toolUse",
    },
    {
        "role": "toolResult",
        "tool_call_id": "c1",
        "tool_name": "read",
        "content": "def main():\n\treturn 1\n",
        "is_error": False,
    },
    {"role": "user", "content": "Never mind. What is in config.py?"},
]
"""``U A[c1,c2] R(c1) U``: the run was left between two tools; c2 was never answered (Card 1)."""

orphan_result: list[dict[str, object]] = [
    {"role": "user", "content": "Good morning."},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Good morning. What shall we look at?"}],
        "stop_reason": "stop",
    },
    {
        "role": "toolResult",
        "tool_call_id": "c7",
        "tool_name": "read",
        "content": "def main():\n\treturn 1\n",
        "is_error": False,
    },
    {"role": "user", "content": "What does main.py do?"},
]
"""``U A R(c7) U``: a result is there, and the reply that called for it was lost (Card 2)."""

late_result: list[dict[str, object]] = [
    {"role": "user", "content": "What does main.py do?"},
    {
        "role": "assistant",
        "content": [
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "main.py"}},
        ],
        "stop_reason": "toolUse",
    },
    {"role": "user", "content": "Take your time."},
    {
        "role": "toolResult",
        "tool_call_id": "c1",
        "tool_name": "read",
        "content": "def main():\n\treturn 1\n",
        "is_error": False,
    },
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "It returns 1, and it is indented with a tab."}],
        "stop_reason": "stop",
    },
]
"""``U A[c1] U R(c1) A``: a second writer got in between a call and its result (Card 3)."""

duplicate_result: list[dict[str, object]] = [
    {"role": "user", "content": "Run the tests."},
    {
        "role": "assistant",
        "content": [
            {"type": "toolCall", "id": "c2", "name": "bash", "arguments": {"command": "pytest"}},
        ],
        "stop_reason": "toolUse",
    },
    {
        "role": "toolResult",
        "tool_call_id": "c2",
        "tool_name": "bash",
        "content": "3 passed",
        "is_error": False,
    },
    {
        "role": "toolResult",
        "tool_call_id": "c2",
        "tool_name": "bash",
        "content": "3 passed (second run)",
        "is_error": False,
    },
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "All three tests pass."}],
        "stop_reason": "stop",
    },
]
"""``U A[c2] R(c2) R(c2) A``: one call was answered twice; the reply had seen the first (Card 4)."""

failed_reply_with_a_call: list[dict[str, object]] = [
    {"role": "user", "content": "Reformat main.py."},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Writing the file."},
            {"type": "toolCall", "id": "c1", "name": "write", "arguments": {"path": "main.py"}},
        ],
        "stop_reason": "error",
        "error_message": "stream ended before the message was complete",
    },
    {"role": "user", "content": "What happened?"},
]
"""``U A[c1](error) U``: the stream broke off inside a call, so nothing was run (Card 5)."""
