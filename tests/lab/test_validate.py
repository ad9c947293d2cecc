"""Each complaint, word for word (pages 7, 9 and 10; DESIGN 6), and the order they come in."""

from typing import Any

import pytest

from grader import lab

A, B, C = (lab.call("read", {"path": f"{name}.py"}, id=name) for name in ("c1", "c2", "c3"))


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return lab.reply(*calls)


def answer(call: dict[str, Any]) -> dict[str, Any]:
    return lab.tool_result(call, "text")


U, DONE = lab.user("Go."), lab.say("Done.")


@pytest.mark.parametrize(
    "record",
    [
        [],
        [U],
        [U, U],
        [U, DONE],
        [U, asks(A, B), answer(A), answer(B)],
        [U, asks(A), answer(A), asks(B), answer(B), U, DONE],
        [U, asks(A, B), answer(A), answer(B), U, DONE],
        [U, lab.fail("cut off", A), answer(A), U],
        [U, lab.fail("cut off", lab.text("Well")), U],
    ],
)
def test_a_valid_transcript_draws_no_complaint(record: list[dict[str, Any]]) -> None:
    assert lab.validate(record) == []
    assert lab.validate(tuple(record)) == []


@pytest.mark.parametrize(
    ("record", "complaints"),
    [
        ([U, asks(A)], ["messages[1]: toolCall c1 has no toolResult"]),
        ([U, lab.fail("cut off", A), U], ["messages[1]: toolCall c1 has no toolResult"]),
        ([U, DONE, answer(A), U], ["messages[2]: toolResult c1 has no toolCall before it"]),
        (
            [U, asks(A), answer(A), answer(A), DONE],
            ["messages[3]: toolResult c1 is a second result for a call that already has one"],
        ),
        ([U, lab.fail("503")], ["messages[1]: assistant message has empty content"]),
        (
            [U, asks(A), U, answer(A), DONE],
            [
                "messages[1]: toolCall c1 has no toolResult",
                "messages[3]: toolResult c1 must directly follow its assistant message, "
                "in call order",
            ],
        ),
        (
            [U, asks(A), answer(A), asks(A), answer(A), U],
            ["messages[3]: toolCall id c1 is used twice in this request"],
        ),
        (
            [U, asks(A, A), answer(A), answer(A)],
            ["messages[1]: toolCall id c1 is used twice in this request"],
        ),
    ],
    ids=["missing", "failed", "orphan", "duplicate", "empty", "late", "reused", "reused at once"],
)
def test_a_complaint_word_for_word(record: list[dict[str, Any]], complaints: list[str]) -> None:
    assert lab.validate(record) == complaints


def test_words_between_two_results_part_the_second_from_its_call() -> None:
    # page 9, moments 3 and 4: what is said first
    first = lab.validate([U, asks(A, B), U, answer(A), answer(B), DONE])
    second = lab.validate([U, asks(A, B), answer(A), U, answer(B), DONE])
    assert first[0] == "messages[1]: toolCall c1 has no toolResult"
    assert first[1] == "messages[1]: toolCall c2 has no toolResult"
    assert second[0] == "messages[1]: toolCall c2 has no toolResult"


def test_results_out_of_order_are_told_like_late_ones() -> None:
    assert lab.validate([U, asks(A, B, C), answer(C), answer(A), DONE]) == [
        "messages[1]: toolCall c1 has no toolResult",
        "messages[1]: toolCall c2 has no toolResult",
        "messages[3]: toolResult c1 must directly follow its assistant message, in call order",
    ]


def test_a_result_before_its_call_is_an_orphan_and_leaves_a_hole() -> None:
    assert lab.validate([U, answer(A), asks(A)]) == [
        "messages[1]: toolResult c1 has no toolCall before it",
        "messages[2]: toolCall c1 has no toolResult",
    ]


def test_a_stray_among_the_results_does_not_hide_the_rest() -> None:
    assert lab.validate([U, asks(A, C), answer(A), answer(B), answer(C)]) == [
        "messages[3]: toolResult c2 has no toolCall before it"
    ]
    assert lab.validate([U, asks(A, B), answer(A), answer(A), answer(B)]) == [
        "messages[3]: toolResult c1 is a second result for a call that already has one"
    ]


def test_complaints_come_in_order_of_message_index() -> None:
    record = [answer(C), lab.fail("503"), U, asks(A), answer(B), lab.fail("503")]
    assert lab.validate(record) == [
        "messages[0]: toolResult c3 has no toolCall before it",
        "messages[1]: assistant message has empty content",
        "messages[3]: toolCall c1 has no toolResult",
        "messages[4]: toolResult c2 has no toolCall before it",
        "messages[5]: assistant message has empty content",
    ]


@pytest.mark.parametrize(
    ("record", "kind", "words"),
    [
        ("U A", TypeError, "a transcript is a list of messages, not a value of type str"),
        (None, TypeError, "a transcript is a list of messages, not None"),
        ([U, "hello"], TypeError, "messages[1] is a value of type str, not a message"),
        ([{"role": "tool"}], ValueError, "messages[0] has the role 'tool'"),
        ([{"role": ["user"]}], ValueError, "messages[0] has the role ['user']"),
        ([{"role": "assistant", "content": "hi"}], TypeError, "content is a list of blocks"),
        ([{"role": "assistant"}], TypeError, "content is a list of blocks, not None"),
        ([{"role": "assistant", "content": [3]}], TypeError, "messages[0].content[0] is a value"),
        ([{"role": "toolResult"}], TypeError, "a tool_call_id that is a string, not None"),
        ([asks(lab.call("read", {}))], ValueError, "the call of read has no id"),
    ],
)
def test_what_is_no_transcript_is_an_exception_that_says_where(
    record: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        lab.validate(record)
    assert words in str(caught.value)
