"""More memory than any machine has, asked for at once."""


def _attack(messages):
    return bytearray(1 << 50)
