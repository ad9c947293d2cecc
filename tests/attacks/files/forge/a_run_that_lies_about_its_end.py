"""A run that says it can be closed and goes on, one that has no end, and one that ends as it likes."""


class Run:
    def __init__(self, events):
        self.events = events

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.events)

    def close(self):
        for _ in self.events:
            pass


_run_agent = run_agent


def run_agent(*arguments, **more):
    return Run(_run_agent(*arguments, **more))
