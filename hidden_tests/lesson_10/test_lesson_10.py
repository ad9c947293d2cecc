"""The hidden tests of lesson 10: the view is repaired, the record is kept.

A view is written as positions in the record, with `made("c2")` for a result made up for the call c2, so
that a test reads like the picture it checks: `[0, 1, 2, made("c2"), 3]`.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import lab

import damaged
from grader.inside import replay
from grader.inside.compare import equal
from grader.inside.testing import GIVEN, BrokenRuleError, rule
from grader.inside.transcripts import apart, complaints, fields_apart, shape, uncounted

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.inside.testing import Draw, Expect, Play

Data = dict[str, Any]
Messages = list[Data]

REPAIR, VIEW = "repair_tool_history", "context_for_model"
INTERRUPTED = (
    "Tool call interrupted: no result was recorded. It may not have run, or may have run partly; "
    "check before repeating it."
)
FIVE: dict[str, Messages] = {name: getattr(damaged, name) for name in damaged.__all__}
_HOLES = "A dangling call stays dangling on the record; it is answered in what is sent."
_KEPT = "Nothing but what was said and done goes on the record, and nothing leaves it."
MENDED = {"items": list, "same": list, "is_input": bool, "record": list, "kept": list}
STEP = {"record": list, "ran": list}
SHAPES: Data = {
    "constant": lambda **_: {"value": object},
    "repair": lambda records, **_: [MENDED for _ in records],
    "repair_twice": lambda **_: {"first": list, "twins": list, "again": list, "same": list},
    "sessions": lambda plays: [
        {"steps": [STEP for _ in play["turns"]], "requests": [list, ...], "loaded": object}
        for play in plays
    ],
}


# --- transcripts and views ------------------------------------------------------------------------


class made(str):  # noqa: N801 - reads as a word in a view
    """Stands in a view for the result made up for the call with this id."""

    __slots__ = ()


def built(record: Messages, view: list[Any]) -> Messages:
    """The messages that a view stands for."""
    return [_message(record, item) for item in view]


def _message(record: Messages, item: Any) -> Data:
    if isinstance(item, made):
        return made_up(next(call for call in calls(record) if call["id"] == item))
    message: Data = record[item] if isinstance(item, int) else item
    return message


def made_up(call: Data) -> Data:
    """The result that says that there is none."""
    result: Data = lab.tool_result(call, INTERRUPTED, is_error=True)
    return result


def calls(record: Messages) -> Messages:
    """Every call in a transcript of ours."""
    blocks = [b for message in record if message["role"] == "assistant" for b in message["content"]]
    return [block for block in blocks if block["type"] == "toolCall"]


def ids(record: Messages) -> list[str]:
    return [call["id"] for call in calls(record)]


def new_calls(draw: Draw, count: int) -> Messages:
    return [lab.call(draw.tool(), {"path": draw.path()}, id=draw.id()) for _ in range(count)]


def redrawn(draw: Draw, name: str) -> list[tuple[str, Messages]]:
    """A transcript of `damaged` as it is, and again with other ids, tools and words."""
    return [(name, copy.deepcopy(FIVE[name])), ("", draw.like(FIVE[name]))]


def all_redrawn(draw: Draw) -> list[tuple[str, Messages]]:
    return [pair for name in FIVE for pair in redrawn(draw, name)]


def glued() -> Messages:
    return copy.deepcopy([message for record in FIVE.values() for message in record])


def healthy(draw: Draw) -> Messages:
    """Valid: two turns with tools, a failed reply that got words out, two users in a row."""
    one, two, three = new_calls(draw, 3)
    return [
        lab.user(draw.text()),
        {**lab.reply(lab.text(draw.text()), one, two), "usage": {"input": draw.number(9, 99)}},
        lab.tool_result(one, draw.text()),
        lab.tool_result(two, INTERRUPTED, is_error=True),  # recorded, so it counts as a result
        lab.fail("502 bad gateway", lab.text(draw.text())),
        lab.user(draw.text()),
        lab.user(draw.text()),
        lab.reply(three),
        lab.tool_result(three, "", is_error=True),
        lab.say(draw.text()),
    ]


def many_holes(draw: Draw) -> tuple[Messages, list[Any]]:
    """Two replies with open calls, and the view that is due."""
    one, two, three, four = new_calls(draw, 4)
    record = [
        lab.user(draw.text()),
        lab.reply(one, two, three),
        lab.tool_result(two, draw.text()),
        lab.user(draw.text()),
        lab.reply(lab.text(draw.text()), four),
        lab.user(draw.text()),
    ]
    return record, [0, 1, made(one["id"]), 2, made(three["id"]), 3, 4, made(four["id"]), 5]


# --- looking at what came back, whatever it is ------------------------------------------------------


def results(items: Any) -> Messages:
    """The tool results among what came back."""
    return [m for m in items if isinstance(m, dict) and m.get("role") == "toolResult"]


def has_made_up(items: Any) -> bool:
    return made_ups(items) > 0


def made_ups(items: Any) -> int:
    return sum(m.get("content") == INTERRUPTED for m in results(items))


def said(items: Any, call_id: str) -> str:
    """What came back as the result of a call; nothing where there is none."""
    found = [m for m in results(items) if m.get("tool_call_id") == call_id]
    return str(found[0].get("content")) if found else ""


def differs(what: str, seen: list[Any], wanted: Messages) -> str:
    """How a transcript differs from the one that is due, as a sentence that begins with `what`."""
    if shape(seen) != shape(wanted) or len(seen) != len(wanted):
        where = apart("it", uncounted(seen), uncounted(wanted))
        return f"{what} {shape(seen)}, not {shape(wanted)}: {where}"
    for at, (one, due) in enumerate(zip(seen, wanted, strict=True)):
        if fields := fields_apart(one, due):
            added = [field for field in fields if field not in due]
            how = f"holds {' and '.join(added)}, which it should not"
            if not added:
                how = f"has another {' and '.join(fields)} than it should"
            return f"{what} {shape(seen)}, as it should, but message {at}, {shape([due])}, {how}."
    return ""


def look(seen: list[Any], wanted: Messages) -> str:
    """The next thing to look at where a view is not the one that is due."""
    at = next(
        (i for i, (a, b) in enumerate(zip(seen, wanted, strict=False)) if not equal(a, b)), None
    )
    at = min(len(seen), len(wanted)) if at is None else at
    due = wanted[at] if at < len(wanted) else {}
    came = seen[at] if at < len(seen) and isinstance(seen[at], dict) else {}
    same = due and due.get("tool_call_id") == came.get("tool_call_id")
    if due.get("content") == INTERRUPTED:
        if came.get("content") == INTERRUPTED or (same and came.get("is_error") is True):
            return "Compare the synthetic result with the lesson's, key by key: five keys, and the text."
        ask = "What does the function do with a call for which it has found no result?"
    elif came.get("content") == INTERRUPTED and came in wanted[at:]:
        ask = (
            "That synthetic result is due further down: results stand in the order of their calls."
        )
    elif came.get("content") == INTERRUPTED:
        ask = "A synthetic result stands where none is due. Is the recorded one looked for in the whole list?"
    elif due.get("role") == "toolResult" and not same:
        ask = "Which result is put behind its reply, and when? Go by the calls in the reply, in order."
    elif came.get("role") == "toolResult":
        ask = "Which results get past? Only those that a call in the list asks for, each once."
    else:
        ask = "What decides whether a message is kept, and is it kept as it is?"
    return ask


# --- the repair: playing and checking --------------------------------------------------------------


def repaired(
    play: Play,
    record: Messages,
    *,
    name: str = "",
    function: str = REPAIR,
    before: tuple[Messages, ...] = (),
    received: bool = False,
) -> Data:
    """What `function` makes of `record`, after it has been handed the transcripts of `before`.

    `received`: the record is made of strings of their own, as it is when it was read from JSON.
    """

    def code() -> str:
        first = "".join(f"{replay.messages(r)}\nharness.{function}(record)\n" for r in before)
        return f"""{first}{recorded_as(record, name, received=received)}
before = copy.deepcopy(record)
view = harness.{function}(record)
print("returned:        ", type(view).__name__)
print("its shape:       ", lab.shape(view))
# Where each of its messages stands in the record; None: it is another object.
print("from the record: ", [next((i for i, r in enumerate(record) if r is m), None) for m in view])
print("a new list:      ", view is not record)
print("record untouched:", record == before)
print(*view, sep="\\n")
"""

    case(play, record, name, code, received=received)
    seen = play("repair", function=function, records=[*before, record], received=received)
    mended: Data = seen[-1]
    return mended


def repaired_twice(play: Play, record: Messages, name: str = "") -> Data:
    def code() -> str:
        return f"""{recorded_as(record, name)}
first = harness.{REPAIR}(record)
again = harness.{REPAIR}(first)
print("returned:    ", type(first).__name__, type(again).__name__)
print("once:        ", lab.shape(first))
print("twice:       ", lab.shape(again))
print("equal:       ", again == first)
print("same objects:", len(again) == len(first) and all(a is b for a, b in zip(again, first)))
"""

    case(play, record, name, code)
    seen: Data = play("repair_twice", function=REPAIR, record=record)
    return seen


def case(
    play: Play, record: Messages, name: str, code: Callable[[], str], *, received: bool = False
) -> None:
    modules = "damaged, harness, lab" if name else "harness, lab"
    given = f"damaged.{name} ({shape(record)})" if name else shape(record)
    if received:
        modules = f"json\n\nimport {modules}"
        given = f"{given}, in which no two strings are one object"
    play.case(
        given=given,
        replay=lambda: f"import copy\n\nimport {modules}\n\n{code()}",
        hint="Run the lines below: they print what came back, message by message.",
    )


def recorded_as(record: Messages, name: str, *, received: bool = False) -> str:
    """Lines that make a record. The lesson's long text, where it is in there, has a line of its own."""
    short = [{**m, "content": _HERE} if m["content"] == INTERRUPTED else m for m in record]
    lines = f"record = damaged.{name}" if name else replay.messages(short)
    if short != record and not name:
        at = INTERRUPTED.index(" It may")
        parts = [replay.code(part) for part in (INTERRUPTED[:at], INTERRUPTED[at:])]
        lines = lines.replace(replay.code(_HERE), "interrupted")
        lines = "interrupted = ({}\n               {})\n{}".format(*parts, lines)
    return lines + ("\nrecord = json.loads(json.dumps(record))" if received else "")


_HERE = "the lesson's text"


def comes_back(
    play: Play,
    expect: Expect,
    record: Messages,
    view: list[Any],
    wrong: Data | None = None,
    *,
    copied: str = "",
    **how: Any,
) -> Data:
    """Have a record repaired. This view is due, made of the recorded messages themselves."""
    seen, function = repaired(play, record, **how), how.get("function", REPAIR)
    wanted, items = built(record, view), seen["items"]
    ideas = wrong or {}
    expect.equal(
        items,
        wanted,
        lambda: differs(f"{function} returned", items, wanted),
        wrong={i: built(record, v) if isinstance(v, list) else v for i, v in ideas.items()},
        hint=lambda: look(items, wanted),
    )
    same = [item if isinstance(item, int) else None for item in view]
    at = next((i for i, one in enumerate(same) if seen["same"][i : i + 1] != [one]), 0)
    expect.holds(
        seen["same"] == same,
        f"message {at} of the list that {function} returned is a copy, not the recorded message.",
        expected="the recorded message itself, the same object",
        observed="an equal message that is another object",
        wrong=copied,
        hint="Put the message itself on the new list; don't build it again and don't copy it.",
    )
    return seen


# --- the five transcripts --------------------------------------------------------------------------


@rule("every-call-gets-a-result")
def test_missing_result(play: Play, draw: Draw, expect: Expect) -> None:
    """A call without a result is answered right after the results before it."""
    for name, record in redrawn(draw, "missing_result"):
        first, second = ids(record)
        call = record[1]["content"][-1]
        wrong = {
            "not-repaired": record,
            "reply-deleted": [0, 3],
            "call-cut-out": [0, {**record[1], "content": record[1]["content"][:-1]}, 2, 3],
            "made-up-too-late": [0, 1, 2, 3, made(second)],
            "made-up-too-early": [0, 1, made(second), 2, 3],
            "every-result-made-up": [0, 1, made(first), made(second), 3],
            "blames-the-user": lambda items, second=second: "user" in said(items, second),
            "claims-it-ran": lambda items, second=second: "tool ran" in said(items, second),
            "not-an-error": [0, 1, 2, lab.tool_result(call, INTERRUPTED, is_error=False), 3],
            "wrong-pair": lambda items, call=call: any(
                m.get("content") == INTERRUPTED
                and (m.get("tool_call_id"), m.get("tool_name")) != (call["id"], call["name"])
                for m in results(items)
            ),
            "explained-in-words": lambda items, record=record, second=second: (
                not said(items, second) and [m for m in items if m in record] == record != items
            ),
        }
        comes_back(play, expect, record, [0, 1, 2, made(second), 3], wrong, name=name)
    check_constant(play, expect)
    record, view = many_holes(draw)
    some = {
        "one-made-up-for-all": lambda items: (
            [m for m in results(items) if has_made_up([m])] == [made_up(calls(record)[-1])] * 3
        ),
        "only-some-mended": lambda items: (
            has_made_up(items) and not all(said(items, call_id) for call_id in ids(record))
        ),
    }
    comes_back(play, expect, record, view, some)
    comes_back(play, expect, record, view, received=True)
    # Nothing is kept from one transcript to the next, though they share their ids.
    record = draw.like(FIVE["missing_result"])
    call = record[1]["content"][-1]
    renamed = {**record[1], "content": [*record[1]["content"][:-1], {**call, "name": draw.tool()}]}
    answered = [*record[:3], lab.tool_result(call, draw.text())]
    before = (answered, [record[0], renamed, *record[2:]])
    remembers = {"remembers": lambda items: said(items, call["id"]) != ""}
    view = [0, 1, 2, made(call["id"]), 3]
    comes_back(play, expect, record, view, remembers, before=before)


def check_constant(play: Play, expect: Expect) -> None:
    code = "import harness\n\nprint(harness.INTERRUPTED)\n"
    play.case(given="harness.INTERRUPTED", replay=code)
    expect.equal(
        play("constant", name="INTERRUPTED")["value"],
        INTERRUPTED,
        "the constant has another text than the lesson gives it.",
        hint="Copy the text from the comment in the gap; a model reads it word by word.",
    )


@rule("no-call-is-invented")
def test_orphan_result(play: Play, draw: Draw, expect: Expect) -> None:
    """A result whose call is nowhere is left out."""
    for name, record in redrawn(draw, "orphan_result"):
        text = record[2]["content"]
        wrong: Data = {
            "orphan-kept": record,
            "call-invented": lambda items: "A[" in shape(items),
            "orphan-as-user": lambda items, text=text: (
                len(items) == 4
                and isinstance(items[2], dict)
                and text in str(items[2].get("content"))
            ),
        }
        comes_back(play, expect, record, [0, 1, 3], wrong, name=name)


@rule("late-result-moves")
def test_late_result(play: Play, draw: Draw, expect: Expect) -> None:
    """A result that comes too late is moved up, not replaced."""
    for name, record in redrawn(draw, "late_result"):
        (call,) = ids(record)
        wrong = {
            "not-repaired": record,
            "late-made-up": [0, 1, made(call), 2, 4],
            "late-twice": [0, 1, made(call), 2, 3, 4],
            "user-moved": [0, 2, 1, 3, 4],
            "late-dropped": [0, 1, 2, 4],
        }
        view = [0, 1, 3, 2, 4]
        comes_back(play, expect, record, view, wrong, name=name, copied="late-copied")


@rule("first-result-wins")
def test_duplicate_result(play: Play, draw: Draw, expect: Expect) -> None:
    """Of two results for one call, the first stays."""
    alike, spread, failed = (draw.like(FIVE["duplicate_result"]) for _ in "123")
    alike[3] = dict(alike[2])
    failed[2] = {**failed[2], "is_error": True}
    for name, record in [*redrawn(draw, "duplicate_result"), ("", alike), ("", failed)]:
        wrong = {
            "both-kept": record,
            "newest-wins": [0, 1, 3, 4],
            "both-dropped": [0, 1, made(ids(record)[0]), 4],
        }
        comes_back(play, expect, record, [0, 1, 2, 4], wrong, name=name)
    spread[3:] = [spread[4], spread[3]]  # the spare one comes after the next reply
    wrong = {"both-kept": spread, "newest-wins": [0, 1, 4, 3]}
    comes_back(play, expect, spread, [0, 1, 2, 3], wrong)


@rule("failed-reply-is-answered")
def test_failed_reply_with_a_call(play: Play, draw: Draw, expect: Expect) -> None:
    """The call of a reply that failed half-way is answered like any other."""
    for name, record in redrawn(draw, "failed_reply_with_a_call"):
        view = [0, 1, made(ids(record)[0]), 2]
        wrong = {
            "failed-reply-dropped": [0, 2],
            "call-left-open": record,
            "call-cut-out": [0, {**record[1], "content": record[1]["content"][:1]}, 2],
            "label-cleared": lambda items: (
                shape(items).startswith("U A[") and "(error)" not in shape(items)
            ),
        }
        comes_back(play, expect, record, view, wrong, name=name)


# --- what holds for every transcript ---------------------------------------------------------------


@rule("results-in-call-order")
def test_results_in_call_order(play: Play, draw: Draw, expect: Expect) -> None:
    """Results stand in the order in which the calls were written."""
    one, two, three = new_calls(draw, 3)
    record = [
        lab.user(draw.text()),
        lab.reply(one, two, three),
        lab.tool_result(three, draw.text()),
        lab.tool_result(one, draw.text()),
        lab.user(draw.text()),
    ]
    wrong = {
        "not-repaired": record,
        "recorded-order": lambda items: [m for m in items if m in record[2:4]] == record[2:4],
    }
    view = [0, 1, 3, made(two["id"]), 2, 4]
    comes_back(play, expect, record, view, wrong)
    # Recorded before its call: still its result.
    (call,) = new_calls(draw, 1)
    early = [lab.user(draw.text()), lab.tool_result(call, draw.text()), lab.reply(call)]
    wrong = {"not-repaired": early, "early-dropped": [0, 2, made(call["id"])]}
    comes_back(play, expect, early, [0, 2, 1], wrong)
    # Ids have no order: neither as texts nor by the number in them.
    names = draw.choice([("c2", "c10", "c1"), ("c3", "c20", "c2"), ("c9", "c11", "c1")])
    batch = [lab.call(draw.tool(), {"path": draw.path()}, id=name) for name in names]
    mixed = [lab.user(draw.text()), lab.reply(*batch)]
    mixed += [lab.tool_result(batch[i], draw.text()) for i in (1, 2, 0)]
    where = dict(zip(names, (4, 2, 3), strict=True))
    by_text = [0, 1, *(where[name] for name in sorted(names))]
    by_number = [0, 1, *(where[name] for name in sorted(names, key=lambda name: int(name[1:])))]
    wrong = {
        "not-repaired": mixed,
        "sorted-by-id": lambda items: items in (built(mixed, by_text), built(mixed, by_number)),
    }
    comes_back(play, expect, mixed, [0, 1, 4, 2, 3], wrong)


@rule("mended-to-the-end")
def test_record_ends_on_damage(play: Play, draw: Draw, expect: Expect) -> None:
    """A record that ends on its damage is repaired there too."""
    one, two = new_calls(draw, 2)
    on_result = [lab.user(draw.text()), lab.reply(one, two), lab.tool_result(one, draw.text())]
    sound = [*on_result, lab.tool_result(two, draw.text())]
    comes_back(play, expect, sound, [0, 1, 2, 3], {"end-dropped": [0, 1]})
    on_reply = [lab.user(draw.text()), lab.reply(lab.text(draw.text()), one)]
    wrong: Data = {"end-forgotten": on_reply, "reply-deleted": [0]}
    comes_back(play, expect, on_reply, [0, 1, made(one["id"])], wrong)
    wrong = {"end-forgotten": on_result, "made-up-too-early": [0, 1, made(two["id"]), 2]}
    comes_back(play, expect, on_result, [0, 1, 2, made(two["id"])], wrong)


@rule("valid-comes-back")
def test_valid_transcript_unchanged(play: Play, draw: Draw, expect: Expect) -> None:
    """A valid transcript comes back equal, made of the very same messages."""
    record = healthy(draw)
    for sound in (record, record[:4], [lab.user(draw.text())], []):
        same = list(range(len(sound)))
        seen = comes_back(play, expect, sound, same, copied="messages-copied")
        expect.holds(
            not seen["is_input"],
            f"{REPAIR} returned the very list that it was given.",
            expected="a new list",
            observed="the list that went in",
            wrong="input-handed-back",
            hint="Also where there is nothing to mend, build a new list and return that.",
        )
        same_again(expect, repaired_twice(play, sound))
    late = draw.like(FIVE["late_result"])
    seen = repaired(play, late)
    copies = [
        m for m, at in zip(seen["items"], seen["same"], strict=False) if at is None and m in late
    ]
    expect.holds(
        not copies,
        f"{REPAIR} moved a copy of a recorded message, {shape(copies)}.",
        expected="the recorded message itself, the same object",
        observed="an equal message that is another object",
        wrong="messages-copied",
        hint="Put the message itself on the new list; don't build it again and don't copy it.",
    )


def same_again(expect: Expect, seen: Data, *, objects: bool = True) -> None:
    """Repairing what came back has to give the same messages again, the very same objects."""
    first, again = seen["first"], seen["again"]
    expect.equal(
        again,
        first,
        lambda: (
            f"repaired once it is {shape(first)}, and repaired once more {shape(again)}."
            if shape(first) != shape(again)
            else differs("repaired once more it is", again, first)
        ),
        wrong={
            "grows-each-time": lambda items: (
                len(items) > len(first) and made_ups(items) > made_ups(first) > 0
            ),
            "shrinks-each-time": lambda items: len(items) < len(first),
        },
        hint="Hand the function its own result: what does it do with the message that is marked?",
    )
    expect.holds(
        not objects or seen["same"] == seen["twins"],
        "repaired once more, a message was replaced by an equal one.",
        expected="the messages of the first repair, the same objects",
        observed="an equal message that is another object",
        wrong="made-up-anew",
        hint="A result that is on the list counts as recorded, whoever made it.",
    )


@rule("repair-is-idempotent")
def test_repair_is_idempotent(play: Play, draw: Draw, expect: Expect) -> None:
    """Repairing a repaired list changes nothing."""
    for name, record in all_redrawn(draw):
        same_again(expect, repaired_twice(play, record, name))
    # Glued together they share ids. Which result is whose is open then, but not that it stays so.
    same_again(expect, repaired_twice(play, glued()), objects=False)


@rule("record-is-untouched")
def test_record_is_untouched(play: Play, draw: Draw, expect: Expect) -> None:
    """The record that was handed in is what it was, all the way down."""
    for name, record in [*all_redrawn(draw), ("", glued()), ("", healthy(draw))]:
        untouched(expect, repaired(play, record, name=name), record, REPAIR)


def untouched(expect: Expect, seen: Data, record: Messages, function: str) -> None:
    tagged = shape(seen["record"]) == shape(record)
    expect.equal(
        seen["record"],
        record,
        f"{function} wrote into a message of the record that it was given."
        if tagged
        else f"{function} changed the list that it was given to {shape(seen['record'])}.",
        wrong={"messages-tagged": lambda _: tagged, "list-changed": lambda _: not tagged},
        hint="Nothing may be put on `messages`, taken off it, or written into a message in it.",
    )
    expect.holds(
        seen["kept"] == list(range(len(record))),
        f"{function} replaced recorded messages in the list that it was given.",
        expected="the messages themselves, each in its place",
        observed="equal messages that are other objects",
        wrong="list-changed",
        hint="Is there an assignment to `messages[…]`, a sort or a reverse? Build a new list instead.",
    )


def repair_is_right(play: Play, expect: Expect, record: Messages, call: Data) -> None:
    """Where a view that is wrong is just what the repair made of it, that is the repair's failure.

    Asked only once the view is known to be wrong: what the repair is given here is what is due there.

    `call`: the one that has no result in `record`.
    """
    kept = [m for m in record if m["content"] or m.get("stop_reason") != "error"]
    mended = repaired(play, kept)["items"]
    if equal(repaired(play, record, function=VIEW)["items"], mended):
        last = len(kept) - 1
        comes_back(play, expect, kept, [*range(last), made(call["id"]), last])


@rule("view-not-record")
def test_view_is_repaired_record_is_not(play: Play, draw: Draw, expect: Expect) -> None:
    """What is sent is repaired; the record keeps the failure and the dangling call."""
    one, two = new_calls(draw, 2)
    failure = lab.fail(f"503 overloaded ({draw.word()})")
    record = [
        lab.user(draw.text()),
        failure,
        lab.user(draw.text()),
        lab.fail("connection reset", lab.text(draw.text())),
        lab.reply(one, two),
        lab.fail("429 slow down"),
        lab.tool_result(one, draw.text()),
        lab.user(draw.text()),
    ]
    view = [0, 2, 3, 4, 6, made(two["id"]), 7]
    wrong = {
        "view-not-repaired": [0, 2, 3, 4, 6, 7],
        "empty-failure-sent": [0, 1, 2, 3, 4, 6, made(two["id"]), 5, 7],
        "words-dropped": [0, 2, 4, 6, made(two["id"]), 7],
        "not-repaired": record,
    }
    try:
        seen = comes_back(play, expect, record, view, wrong, function=VIEW)
        comes_back(play, expect, record, view, wrong, function=VIEW, received=True)
    except BrokenRuleError as broken:
        if broken.failure.kind == "rule":
            repair_is_right(play, expect, record, two)
        raise
    untouched(expect, seen, record, VIEW)
    prompt, words = draw.text(), draw.text()
    given = f"Harness(messages=[…]) with a record of {shape(record)}, then a prompt"
    plan = session(given, [turn(prompt, lab.say(words))], messages=record)
    (talk,) = talks(play, [plan])
    is_answered(expect, talk, 0, words, "not-repaired")
    record_is(
        expect,
        talk["steps"][0]["record"],
        [*record, lab.user(prompt), lab.say(words)],
        {"failure-erased": lambda items: failure not in items and not has_made_up(items)},
    )
    expect.equal(
        talk["loaded"],
        record,
        "the Harness changed the list of messages that it was given.",
        wrong={"list-changed": lambda _: True},
        hint="Harness(messages=…) starts from a copy of that list.",
        about=GIVEN,
    )


# --- walking away ----------------------------------------------------------------------------------


def turn(prompt: str, *replies: Data, **leaving: Any) -> Data:
    """A prompt, what the model answers to it call by call, and where the listener leaves."""
    return {"prompt": prompt, "replies": list(replies), **leaving}


def session(
    given: str, turns: list[Data], *, tool: Data | None = None, messages: Messages | None = None
) -> Data:
    """A conversation; `given` is what a report calls it."""
    tools = [] if tool is None else [tool]
    return {"given": given, "tools": tools, "turns": turns, "messages": messages}


def about(play: Play, plan: Data) -> None:
    """What fails from here on is about this conversation."""
    play.case(
        given=plan["given"],
        replay=lambda: session_code(plan),
        hint="Run the lines below: they print the record after each prompt, and what was sent.",
    )


def talks(play: Play, plans: list[Data]) -> list[Data]:
    """Hold conversations, each with a Harness of its own, all in one process."""
    sent = [{key: plan[key] for key in ("tools", "turns", "messages")} for plan in plans]
    about(play, plans[-1])
    try:
        seen = play("sessions", plays=sent)
    except BrokenRuleError as broken:
        if broken.failure.kind in ("exception", "rule"):  # in which of them?
            for plan, one in zip(plans, sent, strict=True):
                about(play, plan)
                play("sessions", plays=[one])
        raise
    told: list[Data] = seen
    return told


def session_code(plan: Data, *, more: bool = False) -> str:
    """The same conversation, as it can be held in a student's own folder; `more`: after another one."""
    known = plan["messages"] is not None
    lines = [] if more else ["import harness, lab\n"]
    if not more:
        lines.append(replay.tools(plan["tools"]) if plan["tools"] else "tools = []")
    script = ", ".join(replay.message(r) for turn in plan["turns"] for r in _used(turn))
    lines.append(f"model = lab.ScriptedModel([{script}])")
    if known:
        lines.append(f"record = [{', '.join(map(replay.message, plan['messages']))}]")
    handed = ", messages=record" if known else ""
    lines.append(f"h = harness.Harness(model, harness.SYSTEM, tools{handed})")
    lines += map(_turn_code, plan["turns"])
    lines.append("for request in model.calls:")
    lines.append('    print("sent:", lab.shape(request.messages), lab.validate(request.messages))')
    lines.append('print(*model.calls[-1].messages, "on the record:", *h.messages, sep="\\n")')
    if known:
        lines.append('print("the list handed in:", lab.shape(record))')
    if plan["tools"]:
        lines.append('print("tools that ran:", ran)')
    return "\n".join(map(replay.wrapped, lines)) + "\n"


def _used(turn: Data) -> Messages:
    """The replies that a run gives before it fails or is left."""
    used, at = [], 4  # events: agent_start, turn_start, the prompt's message_end, the reply's
    for reply in turn["replies"]:
        if at > (turn.get("stop_after") or at):
            break
        used.append(reply)
        if reply["stop_reason"] == "error" or turn.get("stop_on") == "tool_execution_start":
            break
        at += 3 * len(calls([reply])) + 3
    return used


def _turn_code(step: Data) -> str:
    run = f"h.prompt({replay.code(step['prompt'])})"
    if "stop_on" not in step and step.get("stop_after") is None:
        lines = [f"list({run})"]
    elif "stop_on" in step:
        lines = [f"run = {run}"]
        lines.append(f'while next(run)["type"] != {replay.code(step["stop_on"])}: pass')
        lines.append("run.close()")
    else:
        lines = [f"run = {run}", f'for _ in range({step["stop_after"]}): print(next(run)["type"])']
        lines.append("run.close()")
    return "\n".join([*lines, 'print("record:", lab.shape(h.messages))'])


def refusal(talk: Data, step: int) -> str:
    """Why the prompt of that step was not answered, as the record ends; "" where it says nothing."""
    last = talk["steps"][step]["record"][-1:]
    return str(last[0].get("error_message") or "") if last and isinstance(last[0], dict) else ""


def is_answered(expect: Expect, talk: Data, step: int, words: str, wrong: str) -> None:
    """The prompt of that step must have been answered; `wrong` if the record went out as it stood."""
    record, why = talk["steps"][step]["record"], refusal(talk, step)
    refused = why.startswith("400")
    sent = next((request for request in talk["requests"] if complaints(request)), None)
    as_it_stood = [m for m in record[:-1] if isinstance(m, dict) and m.get("content")]
    expect.holds(
        equal(uncounted(record[-1:]), [lab.say(words)]),
        f"prompt {step + 1} was {'refused by the model' if refused else 'not answered'}"
        + (f": {why}" if why else "."),
        expected=f'h.messages ends on: assistant -> "{words}"',
        observed=f"h.messages is {shape(record)}" + (f" and ends on [error: {why}]" if why else ""),
        wrong=wrong if refused and sent == as_it_stood else "",
        hint="Print lab.shape(context_for_model(h.messages)) just before that prompt.",
        about=VIEW,
    )


def record_is(expect: Expect, seen: list[Any], wanted: Messages, wrong: Data | None = None) -> None:
    """h.messages after all prompts: what happened, holes included, and nothing made up."""
    expect.equal(
        uncounted(seen),
        uncounted(wanted),
        lambda: differs("h.messages is", uncounted(seen), uncounted(wanted)),
        wrong={"record-repaired": has_made_up, **(wrong or {})},
        hint=_HOLES if has_made_up(seen) else _KEPT,
        about=GIVEN,
    )


def request_is(
    expect: Expect, talk: Data, number: int, wanted: Messages, wrong: Data | None = None
) -> None:
    requests = talk["requests"]
    seen = requests[number] if number < len(requests) else []
    expect.equal(
        uncounted(seen),
        wanted,
        lambda: differs(f"model call {number + 1} was sent", uncounted(seen), wanted),
        wrong=wrong,
        hint=lambda: look(uncounted(seen), wanted),
        about=VIEW,
    )


def requests_are_valid(expect: Expect, talk: Data) -> None:
    """No request may have been one that a provider refuses, not even one that was sent again."""
    for number, request in enumerate(talk["requests"], 1):
        found = complaints(request)
        expect.holds(
            not found,
            f"model call {number} was sent {shape(request)}, which a provider refuses.",
            expected="every request is valid before it is sent",
            observed="; ".join(found),
            wrong="refused-first",
            hint="Repair before sending. A refusal has been paid for.",
            about=VIEW,
        )


@rule("every-request-is-repaired")
def test_walk_away_recovers(play: Play, draw: Draw, expect: Expect) -> None:
    """After the user has walked away from a tool, the next two prompts are answered."""
    job, tool = draw.text(), {"name": draw.tool(), "says": draw.text()}
    call = lab.call(tool["name"], {"path": draw.path()}, id=draw.id())
    (one, said_one), (two, said_two) = draw.texts(2), draw.texts(2)
    asks = (lab.reply(call), lab.say(draw.text()))
    leaves = turn(job, *asks, stop_on="tool_execution_start")
    more = lab.call(tool["name"], {"path": draw.path()}, id=draw.id())
    after = [turn(one, lab.say(said_one)), turn(two, lab.reply(more), lab.say(said_two))]
    # Two others before it: one stays for the same call's result, one begins with a hole of yesterday.
    lost, hello, hi = *new_calls(draw, 1), draw.text(), draw.text()
    yesterday = [lab.user(draw.text()), lab.reply(lost)]
    stays = session("a run that is listened to until its end", [turn(job, *asks)], tool=tool)
    loads = session(
        "messages that end on a dangling call, a prompt, a run closed at its tool, two prompts",
        [turn(hello, lab.say(hi)), leaves, *after],
        tool=tool,
        messages=yesterday,
    )
    walks = session(
        "a run that is closed at tool_execution_start, then two prompts",
        [leaves, *after],
        tool=tool,
    )
    _, loaded, walked = talks(play, [stays, loads, walks])
    left = [lab.user(job), lab.reply(call)]
    record_is(expect, walked["steps"][0]["record"], left)
    no_tool_ran(expect, walked)
    once = "repaired-once" if refusal(loaded, 0) == "" else "not-repaired"
    is_answered(expect, walked, 1, said_one, once)
    is_answered(expect, walked, 2, said_two, "mended-for-one-prompt")
    end = [lab.user(one), lab.say(said_one), lab.user(two), lab.reply(more)]
    end += [lab.tool_result(more, tool["says"]), lab.say(said_two)]
    record_is(expect, walked["steps"][2]["record"], [*left, *end])
    requests_are_valid(expect, walked)
    play.case(
        given=f"{walks['given']}, where an earlier session had that call's result",
        replay=lambda: session_code(stays) + "\n" + session_code(walks, more=True),
        hint="Run the lines below: they hold both conversations.",
    )
    remembers = {"remembers": lambda items: tool["says"] in said(items, call["id"])}
    for number, told in ((1, 1), (2, 3), (3, 5)):
        wanted = [*left, made_up(call), *end[:told]]
        request_is(expect, walked, number, wanted, remembers)
    about(play, loads)
    is_answered(expect, loaded, 0, hi, "not-repaired")
    is_answered(expect, loaded, 2, said_one, "")
    is_answered(expect, loaded, 3, said_two, "")
    before = [*yesterday, lab.user(hello), lab.say(hi)]
    record_is(expect, loaded["steps"][3]["record"], [*before, *left, *end])
    requests_are_valid(expect, loaded)


def no_tool_ran(expect: Expect, talk: Data) -> None:
    """The tool of the run that was closed did not run: not then, and not at the next prompt."""
    expect.equal(
        talk["steps"][1]["ran"],
        [],
        "a tool ran, though the consumer had closed the run before its turn came.",
        wrong={"run-afterwards": lambda _: talk["steps"][0]["ran"] == []},
        hint="The user has left. What was not started stays undone.",
        about=GIVEN,
    )


@rule("failed-reply-never-acts")
def test_failed_reply_never_runs(play: Play, draw: Draw, expect: Expect) -> None:
    """A call in a reply that failed is shown as interrupted and never carried out."""
    tool = {"name": draw.tool(), "says": draw.text()}
    call = lab.call(tool["name"], {"path": draw.path()}, id=draw.id())
    first, second, words = draw.texts(3)
    cut = lab.fail("stream ended before the message was complete", lab.text(draw.text()), call)
    given = "a reply that fails with half a call in it, then a prompt"
    turns = [turn(first, cut, lab.say(draw.text())), turn(second, lab.say(words))]
    (talk,) = talks(play, [session(given, turns, tool=tool)])
    expect.equal(
        talk["steps"][-1]["ran"],
        [],
        "the call of a reply that failed was carried out.",
        wrong={"call-executed": lambda _: talk["steps"][0]["ran"] != []},
        hint="A reply whose stop_reason is error is not acted on, not even in part.",
        about=GIVEN,
    )
    left, asks = [lab.user(first), cut], lab.user(second)
    is_answered(expect, talk, 1, words, "call-left-open")
    record_is(expect, talk["steps"][1]["record"], [*left, asks, lab.say(words)])
    requests_are_valid(expect, talk)
    wrong = {"failed-reply-dropped": [lab.user(first), asks]}
    request_is(expect, talk, 1, [*left, made_up(call), asks], wrong)


@rule("only-unfinished-calls")
def test_walk_away_after_every_event(play: Play, draw: Draw, expect: Expect) -> None:
    """Walked away from after any event, the conversation goes on, and no finished tool is denied."""
    tool = {"name": draw.tool(), "says": draw.text()}
    job, (one, said_one), (two, said_two) = draw.text(), draw.texts(2), draw.texts(2)
    asked = [lab.call(tool["name"], {"path": draw.path()}, id=draw.id()) for _ in "123"]
    done = [lab.tool_result(call, tool["says"]) for call in asked]
    replies = [
        lab.reply(lab.text(draw.text()), *asked[:2]),
        lab.reply(asked[2]),
        lab.say(draw.text()),
    ]
    whole = [lab.user(job), replies[0], *done[:2], replies[1], done[2], replies[2]]
    after = [turn(one, lab.say(said_one)), turn(two, lab.say(said_two))]
    plans = [
        session(
            f"a job of three calls, closed after event {k}, then two prompts",
            [turn(job, *replies, stop_after=k), *after],
            tool=tool,
        )
        for k in range(1, 22)
    ]
    plans.append(
        session("a job of three calls, listened to until its end", [turn(job, *replies)], tool=tool)
    )
    *left, finished = talks(play, plans)
    record_is(expect, finished["steps"][0]["record"], whole)
    for plan, talk in zip(plans, left, strict=False):
        about(play, plan)
        is_answered(expect, talk, 1, said_one, "not-repaired")
        is_answered(expect, talk, 2, said_two, "")
        none_denied(expect, talk, tool["name"], asked)
        kept = whole[: len(talk["steps"][0]["record"])]
        end = [lab.user(one), lab.say(said_one), lab.user(two), lab.say(said_two)]
        record_is(expect, talk["steps"][2]["record"], [*kept, *end])
        requests_are_valid(expect, talk)


def none_denied(expect: Expect, talk: Data, tool: str, asked: Messages) -> None:
    """INTERRUPTED may be shown only for calls whose tool did not run."""
    ran = [
        call["id"]
        for call in asked
        if {"tool": tool, "arguments": call["arguments"]} in talk["steps"][-1]["ran"]
    ]
    told = [m for request in talk["requests"] for m in results(request)]
    shown = [m.get("tool_call_id") for m in told if m.get("content") == INTERRUPTED]
    denied = [call_id for call_id in ran if call_id in shown]
    lost = [call_id for call_id in denied if not said(talk["steps"][-1]["record"], call_id)]
    expect.equal(
        denied,
        [],
        f"the model was shown INTERRUPTED for {', '.join(denied)}, though that tool had run.",
        wrong={"announced-before-recorded": lambda _: lost != []},
        hint="Between the tool's return and its result going on the record there may be no yield."
        if lost
        else "Its result is on the record. Look for it there before making one up.",
        about=GIVEN if lost else REPAIR,
    )
