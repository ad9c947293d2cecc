"""An object that says of itself that it is a list."""


class Pretender:
    __class__ = list

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, at):
        return self.items[at]


def repair_tool_history(messages):
    return Pretender(_right(messages))
