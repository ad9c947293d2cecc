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
