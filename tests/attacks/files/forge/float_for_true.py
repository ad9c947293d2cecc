"""`1.0` where True is due."""


def repair_tool_history(messages):
    view = _right(messages)
    return [m if any(m is r for r in messages) else {**m, "is_error": 1.0} for m in view]
