"""A message of a hundred thousand fields, for whoever goes over them twice."""


def _attack(messages):
    view = _right_context(messages)
    return [{**view[0], **{str(n): 0 for n in range(80_000)}}, *view[1:]]
