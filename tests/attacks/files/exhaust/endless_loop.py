"""A loop that never ends."""


def _attack(messages):
    while True:
        pass
