"""The shapes of messages: page 7 prints them all as JSON, under "frontend 2"."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from grader import lab

NO_STRING: Any = 1


def test_messages_have_the_keys_of_the_page_in_its_order() -> None:
    asked = lab.call("read", {"path": "config.py"}, id="c1")
    built = [
        lab.user("Which port is live?"),
        lab.reply(lab.text("Two files."), asked),
        lab.tool_result(asked, "PORT = 9090\n"),
        lab.say("Port 9090."),
        lab.fail("503 overloaded"),
    ]
    assert [json.dumps(message) for message in built] == [
        '{"role": "user", "content": "Which port is live?"}',
        '{"role": "assistant", "content": [{"type": "text", "text": "Two files."}, {"type": '
        '"toolCall", "id": "c1", "name": "read", "arguments": {"path": "config.py"}}], '
        '"stop_reason": "toolUse"}',
        '{"role": "toolResult", "tool_call_id": "c1", "tool_name": "read", "content": '
        '"PORT = 9090\\n", "is_error": false}',
        '{"role": "assistant", "content": [{"type": "text", "text": "Port 9090."}], '
        '"stop_reason": "stop"}',
        '{"role": "assistant", "content": [], "stop_reason": "error", "error_message": '
        '"503 overloaded"}',
    ]


def test_a_call_without_an_id_keeps_its_place_open() -> None:
    assert list(lab.call("read", {}).items()) == [
        ("type", "toolCall"),
        ("id", None),
        ("name", "read"),
        ("arguments", {}),
    ]


def test_a_failed_reply_keeps_what_got_out() -> None:
    broken = lab.fail("cut off", lab.text("Writing."), lab.call("write", {"path": "a.py"}))
    assert [block["type"] for block in broken["content"]] == ["text", "toolCall"]
    assert broken["stop_reason"] == "error"


def test_a_result_can_be_an_error() -> None:
    asked = lab.call("read", {}, id="c1")
    assert lab.tool_result(asked, "no such file", is_error=True)["is_error"] is True


@pytest.mark.parametrize(
    ("build", "arguments", "complaint"),
    [
        (lab.text, (None,), "text() takes a string, not None"),
        (lab.user, (b"hi",), "user() takes a string, not a value of type bytes"),
        (lab.say, (3,), "text() takes a string, not a value of type int"),
        (lab.fail, (503,), "fail() takes a reason that is a string"),
        (lab.call, (print, {}), "call() takes a name that is a string"),
        (lab.call, ("read", "a.py"), "call() takes arguments as a dict"),
        (partial(lab.call, id=NO_STRING), ("read", {}), "call() takes an id that is a string"),
        (lab.reply, ("hello",), "reply() block 0 is a value of type str, not a block"),
        (lab.tool_result, (lab.call("a", {}, id="c1"), 3), "content that is a string"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(
    build: Callable[..., object], arguments: tuple[object, ...], complaint: str
) -> None:
    with pytest.raises(TypeError) as caught:
        build(*arguments)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ({"type": "image"}, "has the type 'image'; known are text, toolCall"),
        ({"text": "no type"}, "has the type None"),
        ({"type": "toolCall", "id": "c1", "name": "read"}, "without the key 'arguments'"),
    ],
)
def test_an_unknown_or_unfinished_block_is_refused(
    block: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ValueError, match="block 0") as caught:
        lab.reply(block)
    assert complaint in str(caught.value)


def test_only_a_call_with_an_id_can_be_answered() -> None:
    with pytest.raises(ValueError, match="has no id to answer"):
        lab.tool_result(lab.call("read", {}), "text")
    with pytest.raises(ValueError, match="not a text block"):
        lab.tool_result(lab.text("hello"), "text")
