"""SystemExit with something that can't be shown."""

import operator


class Code:
    __repr__ = __str__ = operator.itemgetter("x")


def _attack(messages):
    raise SystemExit(Code())
