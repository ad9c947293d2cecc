"""A run of lesson 7 that goes on for ever, each event larger than the last."""


def run_agent(model, system, messages, tools, prompt, *, max_turns=None):
    size = 1
    while True:
        size = min(2 * size, 1 << 16)
        yield {"type": "turn_start", "x": "x" * size}
