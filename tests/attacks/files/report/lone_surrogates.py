"""Halves of characters, in everything that is quoted: no report could be encoded."""


def _attack(messages):
    print("\ud800 printed \udfff")
    raise ValueError("\ud800 raised \udfff")
