"""A run that goes on for ever."""


class Harness(Harness):
    def prompt(self, text):
        while True:
            yield {"type": "turn_start"}
