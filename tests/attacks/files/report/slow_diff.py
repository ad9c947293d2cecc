"""Texts made so that a diff of them takes minutes: 20 KB took pytest's own 20 s."""


def _attack(messages):
    lines = [f"{'ab' * 40}{i % 7}{'ba' * 40}" for i in range(4000)]
    return [{"role": "user", "content": "\n".join(lines)}, *({"role": "user", "content": x} for x in lines)]
