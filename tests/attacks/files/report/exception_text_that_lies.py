"""The text of an exception is a string that says it is short and formats itself as it likes."""

import operator


class Text(str):
    __format__ = operator.itemgetter("x")

    def __len__(self):
        return 1

    def rstrip(self, *_):
        return self


class Hostile(Exception):
    def __str__(self):
        return Text("x" * 5_000_000)


def _attack(messages):
    raise Hostile
