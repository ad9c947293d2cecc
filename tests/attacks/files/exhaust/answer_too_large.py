"""Hands back more than an answer may hold."""


def _attack(messages):
    return [{"role": "user", "content": "x" * 100_000} for _ in range(50)]
