"""What a scene is given is made of the strings that a source file would be made of."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grader.inside.compare import equal
from grader.inside.literals import as_literals


def test_a_received_string_becomes_the_literal() -> None:
    received = json.loads('{"role": "assistant", "content": [{"type": "text"}], "n": 1}')
    assert received["role"] is not json.loads('"assistant"')
    given_to_a_scene = as_literals(received)
    assert given_to_a_scene["role"] is as_literals(json.loads('"assistant"'))
    assert given_to_a_scene["content"][0]["type"] is as_literals(json.loads('"text"'))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_nothing_else_changes(value: Any) -> None:
    assert equal(as_literals(value), value)
