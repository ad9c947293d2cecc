"""How transcripts are drawn; the texts are those of the pages' cells."""

from typing import Any

import pytest

from grader import lab

LOOK = lab.call("read", {"path": "main.py"}, id="c1")


def test_shape_of_nothing_is_nothing() -> None:
    assert lab.shape([]) == ""
    assert lab.show([]) == ""


def test_shape_names_every_kind_of_message() -> None:
    more = lab.call("read", {"path": "b.py"}, id="c2")
    record = (
        lab.user("Go."),
        lab.reply(lab.text("Two."), LOOK, more),
        lab.tool_result(LOOK, ""),
        lab.tool_result(more, "", is_error=True),
        lab.say("Done."),
        lab.fail("503"),
        lab.fail("cut off", LOOK),
    )
    assert lab.shape(record) == "U A[c1,c2] R(c1) R(c2) A A(error) A[c1](error)"


def test_a_call_that_has_no_id_yet() -> None:
    record = [lab.reply(lab.call("read", {}), lab.call("read", {}))]
    assert lab.shape(record) == "A[?,?]"
    assert lab.show(record) == "assistant -> toolCall ? read({}) + toolCall ? read({})"


def test_show_is_one_line_a_message() -> None:
    record = [
        lab.user("scale(21) prints 0. Find the bug."),
        lab.reply(lab.text("Let me look."), LOOK),
        lab.tool_result(LOOK, "from util import scale\n"),
        lab.say("FACTOR is 0 in const.py. That is your bug."),
    ]
    assert lab.show(record).split("\n") == [
        'user -> "scale(21) prints 0. Find the bug."',
        'assistant -> "Let me look." + toolCall c1 read({"path": "main.py"})',
        'toolResult c1 -> "from util import scale\\n"',
        'assistant -> "FACTOR is 0 in const.py. That is your bug."',
    ]


@pytest.mark.parametrize(
    ("message", "options", "line"),
    [
        (lab.fail("503 overloaded"), {}, "assistant -> (nothing)  [error: 503 overloaded]"),
        (
            lab.fail("503 overloaded"),
            {"stop_reason": True},
            "assistant -> (nothing)  [stop_reason=error]  [error: 503 overloaded]",
        ),
        (lab.say("Hi."), {"stop_reason": True}, 'assistant -> "Hi."  [stop_reason=stop]'),
        (lab.user("Hi."), {"stop_reason": True}, 'user -> "Hi."'),
        (
            lab.fail("cut off", lab.text("Writing the file."), LOOK),
            {},
            'assistant -> "Writing the file." + toolCall c1 read({"path": "main.py"})'
            "  [error: cut off]",
        ),
        (
            lab.tool_result(LOOK, "no", is_error=True),
            {},
            'toolResult c1 -> "no"  [is_error]',
        ),
    ],
)
def test_remarks_follow_two_spaces(
    message: dict[str, Any], options: dict[str, Any], line: str
) -> None:
    assert lab.show([message], **options) == line


def test_only_texts_are_clipped() -> None:
    long = "x" * 300
    assert lab.show([lab.user(long)], clip=300) == f'user -> "{long}"'
    assert lab.show([lab.user(long)], clip=5) == 'user -> "xxxxx"...'
    assert lab.show([lab.user("x" * 48)]) == f'user -> "{"x" * 48}"'
    assert lab.show([lab.user("x" * 117)]) != f'user -> "{"x" * 117}"'
    assert long in lab.show([lab.reply(lab.call("read", {"path": long}))], clip=5)
    assert long in lab.show([lab.fail(long)], clip=5)


def test_what_can_not_be_drawn() -> None:
    with pytest.raises(ValueError, match="clip counts characters"):
        lab.show([], clip=-1)
    with pytest.raises(TypeError, match=r"messages\[0\] is None"):
        lab.shape([None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="a list of messages"):
        lab.show("U A")  # type: ignore[arg-type]
