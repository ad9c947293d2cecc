"""`1` where True is due: equal, and not the same."""


def repair_tool_history(messages):
    view = _right(messages)
    return [m if any(m is r for r in messages) else {**m, "is_error": 1} for m in view]
