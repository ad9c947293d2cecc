"""Lists inside each other, deeper than any decoder goes, and one that is inside itself."""


def _attack(messages):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    circle = {"role": "user"}
    circle["content"] = circle
    return [{"role": "user", "content": deep}, circle]
