from __future__ import annotations

from typing import Any

import pytest

import damaged
from grader import lab
from grader.inside import replay

CALL = lab.call("read", {"path": "a\u00e9\n.py", "n": [1, None, True]}, id="c1")
MESSAGES: list[dict[str, Any]] = [
    lab.user('say "hi"\n\x1b[31m'),
    lab.reply(lab.text("words"), CALL),
    lab.say("only words"),
    lab.tool_result(CALL, "result"),
    lab.tool_result(CALL, "failed", is_error=True),
    lab.fail("503 overloaded"),
    lab.fail("cut", lab.text("half"), CALL),
    lab.reply(lab.call("read", {})),
    {**lab.say("x"), "usage": {"input": 1}},
    {**lab.say("odd"), "stop_reason": "toolUse"},
    {"role": "user", "content": "x", "extra": 1},
]


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
def test_the_code_of_a_message_builds_that_message(message: dict[str, Any]) -> None:
    assert eval(replay.message(message), {"lab": lab}) == message


def test_the_code_of_a_transcript_builds_that_transcript() -> None:
    for name in damaged.__all__:
        names: dict[str, Any] = {"lab": lab}
        exec(replay.messages(getattr(damaged, name)), names)
        assert names["record"] == getattr(damaged, name)


@pytest.mark.parametrize(
    "line",
    [
        "x = 1",
        f"run = f({', '.join(repr('word' * 3) for _ in range(12))})",
        f"    lab.reply(lab.text({'a, (b' * 12!r}), lab.call('c', {{'d': [1, 2]}}, id='e'), {'x' * 40!r}),",
        f"model = f([{', '.join(f'g({n!r}, {n!r})' for n in ('one', 'two', 'three') * 5)}])",
        f"x = {'y' * 200!r}",
    ],
)
def test_long_lines_are_broken_and_say_the_same(line: str) -> None:
    broken = replay.wrapped(line)
    assert "".join(broken.split()) == "".join(line.split())
    if "(" in line:
        assert all(len(each) <= replay.WIDTH for each in broken.split("\n"))
    if not line.startswith(" "):
        compile(broken, "replay", "exec")


def test_tools_note_that_they_ran() -> None:
    names: dict[str, Any] = {}
    specs = [{"name": "get_a", "says": "hi"}, {"name": "b", "says": "no", "raises": "OSError"}]
    exec(replay.tools(specs), names)
    one, two = names["tools"]
    assert (one["execute"]({"x": 1}), names["ran"]) == ("hi", [{"x": 1}])
    with pytest.raises(OSError, match="no"):
        two["execute"]({})
    other: dict[str, Any] = {}
    exec(replay.tools(specs, noted=False), other)
    assert "ran" not in other
