"""Puts streams in the place of the real ones that break whoever flushes them."""

import operator
import sys


class Stream:
    flush = write = operator.itemgetter("x")


_real = sys.stdout
_real.flush = _real.write = operator.itemgetter("x")
_real.buffer.raw.write = operator.itemgetter("x")
sys.stdout = sys.stderr = Stream()
