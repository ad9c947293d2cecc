"""Small in memory, endless when it is written out: each list holds the one below ten times."""


def _attack(messages):
    level = ["x"]
    for _ in range(12):
        level = [level] * 10
    return [{"role": "user", "content": level}]
