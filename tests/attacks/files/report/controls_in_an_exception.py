"""The same in an exception: in its text, and in the name of its type."""

_TEXT = "\x1b[2J\x1b]0;passed\x07\u202eessap\u2028\r\n"


def _attack(messages):
    raise type(_TEXT + "Error" * 5000, (Exception,), {})(_TEXT)
