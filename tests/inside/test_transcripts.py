"""Words about transcripts, whatever has been handed back in the place of one."""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import lab

sys.modules.setdefault("lab", lab)  # as in a room
transcripts = importlib.import_module("grader.inside.transcripts")

ONE, TWO = lab.call("read", {"path": "a"}, id="c1"), lab.call("read", {"path": "b"}, id="c2")
WANTED: list[dict[str, Any]] = [
    lab.user("Tidy up."),
    lab.reply(ONE, TWO),
    lab.tool_result(ONE, "done"),
    lab.tool_result(TWO, "done"),
    lab.say("There."),
]
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant", "toolResult", "other"]) | st.none(),
        "content": st.text()
        | st.lists(st.dictionaries(st.sampled_from(["type", "id"]), st.text())),
        "tool_call_id": st.text() | st.none(),
        "stop_reason": st.sampled_from(["stop", "error"]) | st.integers(),
        "error_message": st.text() | st.booleans(),
    },
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | MESSAGE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(ANYTHING)
def test_nothing_raises_and_every_text_is_bounded(value: Any) -> None:
    assert isinstance(transcripts.shape(value), str)
    assert all(len(line) < 1000 for line in transcripts.complaints(value)[:1])
    assert len(transcripts.apart("the record", value, WANTED)) < 1000
    assert 0 <= transcripts.parted(value, WANTED) <= len(WANTED)
    assert isinstance(transcripts.fields_apart(value, WANTED[0]), list)
    json.dumps(transcripts.uncounted(value))


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ([], 'it ends too early: the user\'s "Tidy up." was due at its beginning.'),
        (None, "it is None, not a list of messages."),
        (
            [*WANTED[:3], lab.user("Wait.")],
            "in it, the result of c2 was due right behind the result of c1, and the user's"
            ' "Wait." came.',
        ),
        (
            [*WANTED[:3], {**WANTED[3], "is_error": True}],
            "in it, the result of c2 has another is_error.",
        ),
        (
            [*WANTED[:3], {**WANTED[3], "seen": True}],
            "in it, the result of c2 also holds seen.",
        ),
        (WANTED[:2] + WANTED[4:], "it lacks the result of c1 and 1 more, right behind the reply"),
        (WANTED[1:], 'it lacks the user\'s "Tidy up.", at its beginning.'),
        (
            [lab.user("x"), lab.say("y"), *WANTED],
            'it holds 2 messages too many, at its beginning: the user\'s "x", and so on.',
        ),
        (
            [*WANTED, lab.fail("script exhausted: it held 2 replies")],
            'it holds one message too many, right behind the reply "There.": a reply that failed (the'
            " lab's model had no reply left: it was called more often than this job needs).",
        ),
        (
            [WANTED[0], lab.fail("400 invalid_request")],
            "in it, the reply that asks for c1, c2 was due right behind the user's"
            ' "Tidy up.", and a reply that failed (400 invalid_request) came.',
        ),
    ],
)
def test_how_a_transcript_differs_from_the_one_that_is_due(seen: Any, told: str) -> None:
    assert transcripts.apart("it", seen, WANTED).startswith(told)


def told_of(message: Any) -> dict[str, Any]:
    return {"type": "message_end", "message": message}


EVENTS: list[dict[str, Any]] = [
    {"type": "agent_start"},
    {"type": "turn_start"},
    told_of(WANTED[0]),
    told_of(WANTED[1]),
    {"type": "tool_execution_start", "call": ONE},
    told_of(WANTED[2]),
    {"type": "tool_execution_end", "call": ONE, "result": WANTED[2]},
    {"type": "turn_end", "message": WANTED[1]},
    {"type": "agent_end", "messages": WANTED[:3]},
]


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (EVENTS[:-1], "the run ended after 8 events; agent_end was due next."),
        ([*EVENTS, EVENTS[0]], "the run went on after event 9; with that agent_end it is over."),
        (
            EVENTS[:2] + EVENTS[3:],
            'in turn 1 the user\'s "Tidy up." is on the record, but no message_end announced it.',
        ),
        (EVENTS[:7] + EVENTS[8:], "in turn 1 turn_end is missing."),
        (
            [*EVENTS[:4], {"type": "thinking"}, *EVENTS[4:]],
            "event 5, thinking, should not be there; tool_execution_start c1 was due.",
        ),
        (
            [*EVENTS[:5], EVENTS[6], EVENTS[5], *EVENTS[7:]],
            "event 6 is tool_execution_end c1, where message_end (toolResult c1) was due.",
        ),
        (
            [*EVENTS[:2], told_of("Tidy up."), *EVENTS[3:]],
            "event 3 is message_end (a str), where message_end (user) was due.",
        ),
    ],
)
def test_how_events_differ_from_those_that_are_due(seen: Any, told: str) -> None:
    assert transcripts.events_apart(seen, EVENTS, WANTED) == told


def test_a_message_that_is_nowhere_is_missing_with_its_announcement() -> None:
    told = transcripts.events_apart(EVENTS[:2] + EVENTS[3:], EVENTS, WANTED[1:])
    assert told.endswith('"Tidy up." is missing, and so is the message itself.')


@given(st.lists(ANYTHING, max_size=6))
def test_events_may_be_anything(events: list[Any]) -> None:
    assert len(transcripts.events_apart(events, EVENTS, None)) < 1000
    lines = transcripts.labels(events)
    assert len(lines) == len(events)
    assert all("\n" not in line and len(line) < 500 for line in lines)


def test_shapes_and_complaints() -> None:
    assert transcripts.shape(WANTED) == "U A[c1,c2] R(c1) R(c2) A"
    assert transcripts.shape([]) == "(no messages)"
    assert transcripts.shape([{"role": 1}]) == transcripts.NO_TRANSCRIPT
    assert transcripts.complaints(WANTED) == []
    assert transcripts.complaints(WANTED[:3]) == ["messages[1]: toolCall c2 has no toolResult"]


def test_what_a_reply_has_cost_is_left_out() -> None:
    counted = [lab.user("x"), {**lab.say("y"), "usage": {"input": 3}}]
    assert transcripts.uncounted(counted) == [lab.user("x"), lab.say("y")]
    assert "usage" in counted[1]
