from __future__ import annotations

import time
from typing import Any

import pytest

from grader.inside.compare import Line, cut, differing, equal
from grader.inside.plain import mark


@pytest.mark.parametrize(
    ("one", "other"),
    [(True, 1), (1, 1.0), (False, 0), ("1", 1), (None, False), ([], {}), ({"a": 1}, {"a": True})],
)
def test_look_alikes_of_other_types_are_not_equal(one: Any, other: Any) -> None:
    assert not equal(one, other)
    assert not equal([{"x": [one]}], [{"x": [other]}])


def test_key_order_is_free_and_list_order_is_not() -> None:
    assert equal({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not equal([1, 2], [2, 1])
    assert not equal([1], [1, 1])


def test_messages_are_shown_short_and_the_difference_is_marked() -> None:
    user = {"role": "user", "content": "hi"}
    first = {
        "role": "toolResult",
        "tool_call_id": "c1",
        "tool_name": "t",
        "content": "3 passed",
        "is_error": False,
    }
    expected, observed, diff = differing([user, first], [user, {**first, "content": "3 passed!"}])
    assert expected == 'user -> "hi"\ntoolResult c1 -> "3 passed"'
    assert observed == 'user -> "hi"\ntoolResult c1 -> "3 passed!"'
    assert diff.split("\n") == [
        '  user -> "hi"',
        '- toolResult c1 -> "3 passed"',
        '+ toolResult c1 -> "3 passed!"',
    ]


def test_where_types_differ_they_are_named() -> None:
    _, _, diff = differing({"role": "user", "content": "hi"}, "hi")
    assert diff.split("\n") == ['- user -> "hi"  (a dict)', '+ "hi"  (a str)']
    assert differing(True, None)[2].split("\n") == ["- True  (a bool)", "+ None"]
    assert differing([1, "2"], [1, 2])[2].split("\n")[1:] == ['- "2"  (a str)', "+ 2  (an int)"]


def test_where_two_long_lines_part_is_told() -> None:
    _, _, diff = differing("x" * 90 + "one", "x" * 90 + "two" * 20)
    assert diff.split("\n")[-1].startswith("? from character 92 on: 'one")
    assert "…" in diff.split("\n")[-1]


def test_lines_of_ours_are_shown_without_quotes() -> None:
    assert differing([Line("turn_start")], [])[2].split("\n") == ["- turn_start", "+ (nothing)"]


def test_what_is_cut_ends_in_dots() -> None:
    assert (cut("abc", 3), cut("abcd", 3)) == ("abc", "ab…")


def test_a_difference_that_the_short_form_hides_is_written_out() -> None:
    message = {
        "role": "toolResult",
        "tool_call_id": "c1",
        "tool_name": "read",
        "content": "",
        "is_error": False,
    }
    _, _, diff = differing([message], [{**message, "tool_name": "write"}])
    assert '"tool_name": "read"' in diff
    assert '"tool_name": "write"' in diff
    _, _, diff = differing([message], [{**message, "extra": 1}])
    assert '"extra": 1' in diff


def test_characters_that_look_alike_are_named() -> None:
    _, _, diff = differing("port", "p\u043ert")
    assert "character 3: U+006F was due, U+043E came" in diff
    _, _, diff = differing("a b", "a\u00a0b")
    assert "U+0020 was due, U+00A0 came" in diff


def test_white_space_at_the_end_can_be_seen() -> None:
    expected, observed, _ = differing("done\n", "done ")
    assert (expected, observed) == ('"done\\n"', '"done "')


def test_a_mark_is_shown_as_what_it_says() -> None:
    assert differing([1], mark("a generator"))[1] == "<a generator>"


def test_hostile_texts_are_bounded_and_quick() -> None:
    began = time.process_time()
    for one, other in [
        ("a" * 500_000, "b" * 500_000),
        ("a\n" * 50_000, "b\na\n" * 25_000),
        (["x"] * 100_000, ["y"] * 100_000),
        (
            [{"role": "user", "content": "ab" * 40_000}],
            [{"role": "user", "content": "ba" * 40_000}],
        ),
    ]:
        assert all(len(text) < 150_000 for text in differing(one, other))
    assert time.process_time() - began < 3


def test_a_lone_surrogate_does_not_stop_it() -> None:
    assert "ud800" in differing("a", "\ud800")[1]
