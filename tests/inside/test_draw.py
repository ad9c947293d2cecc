from __future__ import annotations

import damaged
from grader import lab
from grader.inside.draw import Draw


def test_the_same_seed_and_test_give_the_same_values() -> None:
    one, other = Draw(7, "a"), Draw(7, "a")
    assert [one.text(), one.path(), one.id(), one.tool()] == [
        other.text(),
        other.path(),
        other.id(),
        other.tool(),
    ]


def test_another_seed_or_test_gives_others() -> None:
    texts = {tuple(Draw(seed, test).texts(5)) for seed in range(10) for test in "ab"}
    assert len(texts) == 20


def test_no_two_values_of_one_test_are_alike() -> None:
    draw = Draw(1, "a")
    words = [draw.word() for _ in range(300)] + [draw.id() for _ in range(300)]
    assert len(set(words)) == 600


def test_a_redrawn_transcript_has_the_same_shape_and_nothing_else_in_common() -> None:
    for name in damaged.__all__:
        record = getattr(damaged, name)
        redrawn = Draw(3, name).like(record)
        ids = {m["tool_call_id"] for m in record if m["role"] == "toolResult"}
        assert ids.isdisjoint(m["tool_call_id"] for m in redrawn if m["role"] == "toolResult")
        assert [m["role"] for m in redrawn] == [m["role"] for m in record]
        assert len(lab.validate(redrawn)) == len(lab.validate(record))
        assert all(
            one["content"] != other["content"] for one, other in zip(record, redrawn, strict=True)
        )


def test_shuffled_is_never_the_order_that_was_given() -> None:
    assert all(Draw(seed, "a").shuffled([1, 2]) == [2, 1] for seed in range(20))
    assert Draw(1, "a").shuffled([1]) == [1]
