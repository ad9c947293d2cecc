"""Halves of characters in the messages themselves."""


def _attack(messages):
    return [{"role": "user", "content": "\ud800"}, {"role": "\udfff", "content": "\udcff", "\udcff": 1}]
