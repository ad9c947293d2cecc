"""As many messages as an answer can hold."""


def _attack(messages):
    return [{"role": "user", "content": "x"} for _ in range(25_000)]
