"""An integer that takes minutes to write down."""


def _attack(messages):
    return [{"role": "user", "content": 1 << 10_000_000}, 10 ** 4299, -(10 ** 5000)]
