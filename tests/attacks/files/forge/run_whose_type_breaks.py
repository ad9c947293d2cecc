"""A run of a type that breaks whoever asks what it can do."""

import operator


class Meta(type):
    __getattr__ = operator.itemgetter("x")
    __getattribute__ = operator.itemgetter("x")


class Run(metaclass=Meta):
    pass


class Harness(Harness):
    def prompt(self, text):
        return Run()
