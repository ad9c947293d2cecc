"""A number that C computes for hours, without ever coming back to the interpreter."""


def _attack(messages):
    return 9 ** 9 ** 9
