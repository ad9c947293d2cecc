"""Objects that never let go of what they end with."""


class Endless:
    def __del__(self):
        while True:
            pass


def _attack(messages):
    Endless()
    return _right_context(messages)
