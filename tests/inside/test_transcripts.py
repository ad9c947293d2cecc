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
    assert len(transcripts.parting(value, WANTED)) < 1000
    assert 0 <= transcripts.parted(value, WANTED) <= len(WANTED)
    assert isinstance(transcripts.fields_apart(value, WANTED[0]), list)
    json.dumps(transcripts.uncounted(value))


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ([], 'At the beginning the user\'s "Tidy up." was due, and the end came.'),
        (
            [*WANTED[:3], lab.user("Wait.")],
            "All is right up to the result of c1. Then the result of c2 was due, and the user's"
            ' "Wait." came.',
        ),
        (
            [*WANTED[:3], {**WANTED[3], "is_error": True}],
            "All is right up to the result of c1. Then the result of c2 was due, and one with another"
            " is_error came.",
        ),
        (
            [*WANTED, lab.fail("script exhausted: it held 2 replies")],
            'All is right up to the reply "There.". Then the end was due, and a reply that failed came'
            " (the model was called more often than this job needs).",
        ),
        (
            [WANTED[0], lab.fail("400 invalid_request")],
            'All is right up to the user\'s "Tidy up.". Then the reply that asks for c1, c2 was due, and'
            " a reply that failed came (400 invalid_request).",
        ),
    ],
)
def test_where_a_transcript_leaves_the_one_that_is_due(seen: Any, told: str) -> None:
    assert transcripts.parting(seen, WANTED) == told


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
