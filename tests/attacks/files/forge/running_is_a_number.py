"""`is_running` is 1 or 0, which is equal to True or False."""

Harness.is_running = property(lambda self: int(self._running))
