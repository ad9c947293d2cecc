"""Prints from inside the loop, and not by way of any stream: straight to the descriptor."""

import os

_run_agent = run_agent


def run_agent(*arguments, **more):
    for event in _run_agent(*arguments, **more):
        os.write(1, b"a word\n")
        yield event
