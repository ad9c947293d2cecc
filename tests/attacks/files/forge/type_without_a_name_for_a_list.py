"""As `type_without_a_name`, where a list is due."""


def _attack(messages):
    return type("", (), {"__module__": "builtins"})()
