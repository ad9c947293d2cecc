"""Uses no processor time at all, and never comes back."""

import time


def _attack(messages):
    time.sleep(10_000)
