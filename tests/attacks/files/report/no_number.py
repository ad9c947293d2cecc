"""Numbers that JSON has no word for."""


def _attack(messages):
    return [{"role": "user", "content": float("nan")}, float("inf"), -float("inf"), 1e308 * 10]
