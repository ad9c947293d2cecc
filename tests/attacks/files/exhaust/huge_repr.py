"""An exception with a text of a hundred megabytes."""


def _attack(messages):
    raise ValueError("x" * 100_000_000)
