"""The hidden tests of lesson 10: the view is repaired, the record is kept.

A view is written as positions in the record, with `made(call id)` where a result was made up, so that
each test reads like the picture it checks: `[0, 1, 2, made("c2"), 3]`.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import damaged
import lab

from grader.inside import replay
from grader.inside.testing import rule

if TYPE_CHECKING:
    from grader.inside.testing import Draw, Expect, Play

    Message = dict[str, Any]

REPAIR, VIEW = "repair_tool_history", "context_for_model"
INTERRUPTED = (
    "Tool call interrupted: no result was recorded. It may not have run, or may have run partly; "
    "check before repeating it."
)
FIVE: dict[str, list[Message]] = {name: getattr(damaged, name) for name in damaged.__all__}


# --- transcripts and views -------------------------------------------------------------------------


class made(str):  # noqa: N801, SLOT000 - reads as a word in a view
    """Stands in a view for the result made up for the call with this id."""


def built(record: list[Message], view: list[Any]) -> list[Message]:
    """The messages that a view written as positions stands for."""
    return [made_up(record, item) if isinstance(item, made) else record[item] for item in view]


def made_up(record: list[Message], call_id: str, **changed: Any) -> Message:
    call = next(call for message in record for call in calls(message) if call["id"] == call_id)
    return {
        "role": "toolResult",
        "tool_call_id": call["id"],
        "tool_name": call["name"],
        "content": INTERRUPTED,
        "is_error": True,
        **changed,
    }


def calls(message: Message) -> list[Message]:
    if message["role"] != "assistant":
        return []
    return [block for block in message["content"] if block["type"] == "toolCall"]


def ids(record: list[Message]) -> list[str]:
    return [call["id"] for message in record for call in calls(message)]


def shape(messages: Any) -> str:
    """`lab.shape`, or a word for what is no transcript."""
    try:
        return lab.shape(messages) or "(no messages)"
    except Exception:  # noqa: BLE001 - whatever a submission handed back
        return "something that is no transcript"


def healthy(draw: Draw) -> list[Message]:
    """A valid transcript: two turns with tools, a failed reply that got words out, two users in a row."""
    one, two, three = (lab.call(draw.tool(), {"path": draw.path()}, id=draw.id()) for _ in "123")
    return [
        lab.user(draw.text()),
        lab.reply(lab.text(draw.text()), one, two),
        lab.tool_result(one, draw.text()),
        lab.tool_result(two, INTERRUPTED, is_error=True),
        lab.fail("502 bad gateway", lab.text(draw.text())),
        lab.user(draw.text()),
        lab.user(draw.text()),
        lab.reply(three),
        lab.tool_result(three, draw.text()),
        lab.say(draw.text()),
    ]


def glued() -> list[Message]:
    return [message for record in FIVE.values() for message in record]


# --- playing and checking --------------------------------------------------------------------------


def repaired(
    play: Play,
    record: list[Message],
    *,
    name: str = "",
    function: str = REPAIR,
    before: tuple[list[Message], ...] = (),
    needs: tuple[str, ...] = (),
) -> dict[str, Any]:
    """What `function` makes of `record`, after it has been handed the transcripts of `before`."""
    source = f"record = damaged.{name}" if name else replay.messages(record)
    earlier = "".join(
        f"{replay.messages(r, 'earlier')}\nharness.{function}(earlier)\n" for r in before
    )
    play.case(
        given=f"damaged.{name}: {shape(record)}" if name else shape(record),
        replay=f"import {'damaged, ' if name else ''}harness, lab\n\n{earlier}{source}\n"
        f"view = harness.{function}(record)\nprint(lab.shape(view))\nprint(lab.show(view, clip=200))\n",
    )
    answer = play("repair", function=function, records=[*before, record], needs=list(needs))
    seen: dict[str, Any] = answer["repairs"][-1]
    return {**seen, "names": answer["names"]}


def check(
    expect: Expect,
    seen: dict[str, Any],
    record: list[Message],
    view: list[Any],
    wrong: dict[str, Any] | None = None,
    *,
    function: str = REPAIR,
    copied: str = "",
) -> None:
    """The view has to be the one written as positions, of the recorded objects themselves."""
    wanted, items = built(record, view), seen["view"]["items"]
    if not seen["view"]["is_list"]:
        expect.fail(
            f"{function} returned {seen['view']['what']}, not a list.",
            expected=f"a list: {shape(wanted)}",
            observed=seen["view"]["what"],
            hint="Build the list first, then return it.",
        )
    ideas = {
        idea: built(record, known) if isinstance(known, list) and is_view(known) else known
        for idea, known in (wrong or {}).items()
    }
    expect.equal(
        items,
        wanted,
        f"{function} gave {shape(items)} where {shape(wanted)} was due."
        if shape(items) != shape(wanted)
        else f"{function} gave {shape(items)}, which is right, but a message in it is not.",
        wrong=ideas,
    )
    same = [None if isinstance(item, made) else item for item in view]
    changed = next((i for i, (a, b) in enumerate(zip(seen["view"]["same"], same, strict=True)) if a != b), 0)
    expect.holds(
        seen["view"]["same"] == same,
        f"message {changed} of the list that {function} gave back is a copy of the recorded one.",
        expected="the recorded message itself, the same object",
        observed="an equal message that is another object",
        wrong=copied,
        hint="Put the message itself on the new list; don't build it again and don't copy it.",
    )


def is_view(view: list[Any]) -> bool:
    return all(isinstance(item, (int, made)) for item in view)


def any_made_up(text: str | None = None, **fields: Any) -> Any:
    """Tells a view with a made-up result that has this text, or other fields than it should."""

    def tells(items: Any) -> bool:
        wanted = {**fields, **({} if text is None else {"content": text})}
        return isinstance(items, list) and any(
            isinstance(m, dict)
            and m.get("role") == "toolResult"
            and all(type(m.get(k)) is type(v) and m.get(k) == v for k, v in wanted.items())
            for m in items
        )

    return tells


def redrawn(draw: Draw, name: str) -> list[tuple[str, list[Message]]]:
    """A transcript of `damaged` as it is, and drawn again with other ids, tools and words."""
    return [(name, copy.deepcopy(FIVE[name])), ("", draw.like(FIVE[name]))]


# --- the five transcripts --------------------------------------------------------------------------


@rule("every-call-gets-a-result")
def test_missing_result(play: Play, draw: Draw, expect: Expect) -> None:
    """A call without a result is answered right after the results before it."""
    for name, record in redrawn(draw, "missing_result"):
        first, second = ids(record)
        without_call = {**record[1], "content": record[1]["content"][:-1]}
        wrong = {
            "not-repaired": record,
            "reply-deleted": [0, 3],
            "call-cut-out": [record[0], without_call, record[2], record[3]],
            "made-up-too-late": [0, 1, 2, 3, made(second)],
            "made-up-too-early": [0, 1, made(second), 2, 3],
            "every-result-made-up": [0, 1, made(first), made(second), 3],
            "blames-the-user": any_made_up("Tool call interrupted by user"),
            "claims-it-ran": any_made_up("The tool ran."),
            "not-an-error": any_made_up(INTERRUPTED, is_error=False),
            "wrong-pair": lambda items, record=record, second=second: (
                shape(items) == shape(built(record, [0, 1, 2, made(second), 3]))
                and items[3].get("tool_name") != record[1]["content"][-1]["name"]
            ),
            "explained-in-words": lambda items, record=record: (
                isinstance(items, list)
                and sum(m.get("role") == "user" for m in items if isinstance(m, dict)) > 2  # noqa: PLR2004
                and shape(items).count("R(") == 1
                and len(items) > len(record)
            ),
        }
        seen = repaired(play, record, name=name, needs=("INTERRUPTED",))
        check(expect, seen, record, [0, 1, 2, made(second), 3], wrong)
        expect.equal(
            seen["names"]["INTERRUPTED"],
            INTERRUPTED,
            "the constant INTERRUPTED has another text than the lesson gives it.",
            about="INTERRUPTED",
        )
    record = draw.like(FIVE["missing_result"])
    _, second = ids(record)
    other = [record[0], record[1], record[2]]
    call = record[1]["content"][-1]
    other.append(lab.tool_result(call, draw.text()))
    check(
        expect,
        repaired(play, record, before=(other,)),
        record,
        [0, 1, 2, made(second), 3],
        {"remembers": lambda items: isinstance(items, list) and other[3] in items},
    )


@rule("no-call-is-invented")
def test_orphan_result(play: Play, draw: Draw, expect: Expect) -> None:
    """A result whose call is nowhere is left out."""
    for name, record in redrawn(draw, "orphan_result"):
        text = record[2]["content"]
        wrong = {
            "orphan-kept": record,
            "call-invented": lambda items: shape(items).count("A[") > 0,
            "orphan-as-user": lambda items, text=text: (
                isinstance(items, list)
                and any(
                    m.get("role") in ("user", "assistant") and text in str(m.get("content"))
                    for m in items
                    if isinstance(m, dict)
                )
            ),
        }
        check(expect, repaired(play, record, name=name), record, [0, 1, 3], wrong)


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
        seen = repaired(play, record, name=name)
        check(expect, seen, record, [0, 1, 3, 2, 4], wrong, copied="late-copied")


@rule("first-result-wins")
def test_duplicate_result(play: Play, draw: Draw, expect: Expect) -> None:
    """Of two results for one call, the first stays."""
    equal_texts = draw.like(FIVE["duplicate_result"])
    equal_texts[3] = dict(equal_texts[2])
    for name, record in [*redrawn(draw, "duplicate_result"), ("", equal_texts)]:
        (call,) = ids(record)
        wrong = {
            "both-kept": record,
            "newest-wins": [0, 1, 3, 4],
            "both-dropped": [0, 1, made(call), 4],
        }
        seen = repaired(play, record, name=name)
        check(expect, seen, record, [0, 1, 2, 4], wrong, copied="")


@rule("failed-reply-is-answered")
def test_failed_reply_with_a_call(play: Play, draw: Draw, expect: Expect) -> None:
    """The call of a reply that failed half-way is answered like any other."""
    for name, record in redrawn(draw, "failed_reply_with_a_call"):
        (call,) = ids(record)
        words = {**record[1], "content": record[1]["content"][:1]}
        wrong = {
            "failed-reply-dropped": [0, 2],
            "call-left-open": record,
            "call-cut-out": [record[0], words, record[2]],
            "label-cleared": lambda items: (
                isinstance(items, list)
                and len(items) > 1
                and isinstance(items[1], dict)
                and items[1].get("role") == "assistant"
                and items[1].get("stop_reason") != "error"
            ),
        }
        seen = repaired(play, record, name=name)
        check(expect, seen, record, [0, 1, made(call), 2], wrong)


# --- what holds for every transcript ---------------------------------------------------------------


@rule("results-in-call-order")
def test_results_in_call_order(play: Play, draw: Draw, expect: Expect) -> None:
    """Results stand in the order in which the calls were written."""
    one, two, three = (lab.call(draw.tool(), {"path": draw.path()}, id=draw.id()) for _ in "123")
    record = [
        lab.user(draw.text()),
        lab.reply(one, two, three),
        lab.tool_result(three, draw.text()),
        lab.tool_result(one, draw.text()),
        lab.user(draw.text()),
    ]
    hole = made(two["id"])
    check(
        expect,
        repaired(play, record),
        record,
        [0, 1, 3, hole, 2, 4],
        {
            "not-repaired": record,
            "recorded-order": lambda items: (
                [i for i in items if i in (record[2], record[3])] == record[2:4]
                if isinstance(items, list)
                else False
            ),
        },
    )
    call = lab.call(draw.tool(), {"path": draw.path()}, id=draw.id())
    early = [lab.user(draw.text()), lab.tool_result(call, draw.text()), lab.reply(call)]
    early.append(lab.user(draw.text()))
    check(
        expect,
        repaired(play, early),
        early,
        [0, 2, 1, 3],
        {"not-repaired": early, "early-dropped": [0, 2, made(call["id"]), 3]},
    )
    numbers = draw.choice([("c2", "c10", "c1"), ("c3", "c20", "c1"), ("c9", "c11", "c10")])
    batch = [lab.call(draw.tool(), {"path": draw.path()}, id=name) for name in numbers]
    mixed = [lab.user(draw.text()), lab.reply(*batch)]
    mixed += [lab.tool_result(call, draw.text()) for call in reversed(batch)]
    by_id = sorted(range(3), key=lambda i: numbers[i])
    by_number = sorted(range(3), key=lambda i: int(numbers[i][1:]))
    check(
        expect,
        repaired(play, mixed),
        mixed,
        [0, 1, 4, 3, 2],
        {
            "not-repaired": mixed,
            "sorted-by-id": lambda items: any(
                items == built(mixed, [0, 1, *(4 - i for i in order)])
                for order in (by_id, by_number)
            ),
        },
    )


@rule("mended-to-the-end")
def test_record_ends_on_damage(play: Play, draw: Draw, expect: Expect) -> None:
    """A record that ends on its damage is mended there too."""
    one, two = (lab.call(draw.tool(), {"path": draw.path()}, id=draw.id()) for _ in "12")
    on_reply = [lab.user(draw.text()), lab.reply(lab.text(draw.text()), one)]
    check(
        expect,
        repaired(play, on_reply, needs=("INTERRUPTED",)),
        on_reply,
        [0, 1, made(one["id"])],
        {"end-forgotten": on_reply, "reply-deleted": [0]},
    )
    on_result = [lab.user(draw.text()), lab.reply(one, two), lab.tool_result(one, draw.text())]
    check(
        expect,
        repaired(play, on_result, needs=("INTERRUPTED",)),
        on_result,
        [0, 1, 2, made(two["id"])],
        {"end-forgotten": on_result, "made-up-too-early": [0, 1, made(two["id"]), 2]},
    )
    sound = [*on_result, lab.tool_result(two, draw.text())]
    check(
        expect,
        repaired(play, sound),
        sound,
        [0, 1, 2, 3],
        {"end-dropped": lambda items: isinstance(items, list) and items == sound[: len(items)]},
    )


@rule("valid-comes-back")
def test_valid_transcript_unchanged(play: Play, draw: Draw, expect: Expect) -> None:
    """A valid transcript comes back equal, made of the very same messages."""
    record = healthy(draw)
    for sound in (record, record[:4], [lab.user(draw.text())], []):
        seen = repaired(play, sound)
        everything: list[Any] = list(range(len(sound)))
        check(expect, seen, sound, everything, copied="messages-copied")
        expect.holds(
            not seen["is_input"],
            f"{REPAIR} handed back the very list that it was given.",
            expected="a new list",
            observed="the list that went in",
            wrong="input-handed-back",
            hint="Also where there is nothing to mend, build a new list and return that.",
        )
        again_is_same(expect, seen)
    late = draw.like(FIVE["late_result"])
    seen = repaired(play, late)
    expect.equal(
        seen["view"]["same"],
        [0, 1, 3, 2, 4],
        f"{REPAIR} did not move the recorded result itself.",
        wrong={"messages-copied": lambda same: isinstance(same, list) and None in same},
    )


def again_is_same(expect: Expect, seen: dict[str, Any]) -> None:
    """Repairing what came back must give the same messages again, the very same objects."""
    first, again = seen["view"]["items"], seen["again"]
    expect.equal(
        again["items"],
        first,
        f"{REPAIR}({REPAIR}(record)) gave {shape(again['items'])}; "
        f"the first time it was {shape(first)}.",
        wrong={
            "grows-each-time": lambda items: isinstance(items, list) and len(items) > len(first),
            "shrinks-each-time": lambda items: isinstance(items, list) and len(items) < len(first),
        },
        hint="Feed the function its own result: every call in there has one result already.",
    )
    expect.holds(
        again["same"] == seen["view"]["twins"],  # by first occurrence: ids may be shared
        f"{REPAIR}({REPAIR}(record)) built a message anew that was there already.",
        expected="the messages of the first pass, the same objects",
        observed="an equal message that is another object",
        wrong="made-up-anew",
        hint="A result that is on the list counts as recorded, whoever made it.",
    )


@rule("repair-is-idempotent")
def test_repair_is_idempotent(play: Play, draw: Draw, expect: Expect) -> None:
    """Repairing a repaired list changes nothing."""
    records = [(name, copy.deepcopy(record)) for name, record in FIVE.items()]
    records += [("", draw.like(record)) for record in FIVE.values()]
    for name, record in [*records, ("", glued())]:
        seen = repaired(play, record, name=name)
        if not seen["view"]["is_list"]:
            check(expect, seen, record, list(range(len(record))))
        again_is_same(expect, seen)


@rule("record-is-untouched")
def test_record_is_untouched(play: Play, draw: Draw, expect: Expect) -> None:
    """The record that was handed in is what it was, all the way down."""
    records = [(name, copy.deepcopy(record)) for name, record in FIVE.items()]
    records += [("", draw.like(record)) for record in FIVE.values()]
    for name, record in [*records, ("", glued()), ("", healthy(draw))]:
        untouched(expect, repaired(play, record, name=name), record, REPAIR)


def untouched(expect: Expect, seen: dict[str, Any], record: list[Message], function: str) -> None:
    expect.equal(
        seen["record"],
        record,
        f"{function} changed the record that it was given.",
        wrong={
            "messages-tagged": lambda after: (
                isinstance(after, list)
                and len(after) == len(record)
                and shape(after) == shape(record)
            ),
            "list-changed": lambda after: isinstance(after, list),
        },
        hint="Nothing may be put on `messages`, taken off it, or written into a message in it.",
    )
    expect.holds(
        seen["kept"] == list(range(len(record))),
        f"{function} put other objects in the place of the recorded messages.",
        expected="the messages themselves, each in its place",
        observed="equal messages that are other objects",
        wrong="list-changed",
    )


@rule("view-not-record")
def test_view_is_repaired_record_is_not(play: Play, draw: Draw, expect: Expect) -> None:
    """What is sent is mended; the record keeps the failure and the hole."""
    call = lab.call(draw.tool(), {"path": draw.path()}, id=draw.id())
    record = [
        lab.user(draw.text()),
        lab.fail("503 overloaded"),
        lab.user(draw.text()),
        lab.fail("connection reset", lab.text(draw.text())),
        lab.reply(call),
        lab.user(draw.text()),
    ]
    hole = made(call["id"])
    seen = repaired(play, record, function=VIEW)
    check(
        expect,
        seen,
        record,
        [0, 2, 3, 4, hole, 5],
        {
            "view-not-repaired": [0, 2, 3, 4, 5],
            "empty-failure-sent": [0, 1, 2, 3, 4, hole, 5],
            "words-dropped": [0, 2, 4, hole, 5],
            "not-repaired": record,
        },
        function=VIEW,
    )
    untouched(expect, seen, record, VIEW)
    prompt, words = draw.text(), draw.text()
    spec = {
        "tools": [],
        "messages": record,
        "answers": [{"said": prompt, "replies": [lab.say(words)]}],
        "steps": [{"prompt": prompt}],
    }
    (talk,) = conversation(play, [spec], f"Harness(messages={shape(record)}), then a prompt")
    expect.equal(
        talk["steps"][0]["record"][: len(record)],
        record,
        "the record that the Harness was given is not what it was after one prompt.",
        wrong={"record-repaired": lambda after: isinstance(after, list) and INTERRUPTED in str(after)},
        about="Harness",
    )
    answered(expect, talk, 0, words)


# --- walking away ----------------------------------------------------------------------------------


def conversation(play: Play, specs: list[dict[str, Any]], given: str) -> list[dict[str, Any]]:
    """Hold conversations with a Harness; the last one is what a failure replays."""
    play.case(given=given, replay=session_code(specs[-1]))
    talks: list[dict[str, Any]] = play("sessions", plays=specs)
    return talks


def session_code(spec: dict[str, Any]) -> str:
    lines = ["import asyncio", "", "import harness, lab", ""]
    if spec["tools"]:
        lines.append(replay.tools(spec["tools"]))
    lines.append("answers = {")
    for entry in spec["answers"]:
        replies = ", ".join(map(replay.message, entry["replies"]))
        lines.append(f"    {replay.code(entry['said'])}: [{replies}],")
    lines += [
        "}",
        "def answer(request):",
        '    newest = max(i for i, m in enumerate(request.messages) if m["role"] == "user")',
        '    done = sum(m["role"] == "assistant" for m in request.messages[newest:])',
        '    return answers[request.messages[newest]["content"]][done]',
        "model = lab.ScriptedModel([lab.forever(answer)])",
    ]
    given = ""
    if spec.get("messages") is not None:
        lines.append(replay.messages(spec["messages"]))
        given = ", messages=record"
    tools = "tools" if spec["tools"] else "[]"
    lines.append(f"h = harness.Harness(model, harness.SYSTEM, {tools}{given})")
    for step in spec["steps"]:
        stop = step.get("stop_after") or step.get("replay_stop")
        early = f", stop_after={stop}" if stop else ""
        lines.append(f"asyncio.run(lab.drive(h.prompt({replay.code(step['prompt'])}){early}))")
        lines.append("print(lab.shape(h.messages))")
    lines.append("print(lab.show(model.calls[-1].messages, clip=200))")
    return "\n".join(lines) + "\n"


def is_transcript(messages: Any) -> bool:
    """Whether these are messages, so that they can be read further."""
    try:
        lab.validate(messages)
    except Exception:  # noqa: BLE001 - whatever a submission handed back
        return False
    return all(isinstance(m.get("content"), (str, list)) for m in messages)


def recorded(expect: Expect, talk: dict[str, Any], step: int) -> list[Message]:
    """h.messages after that step, once it is known to be a transcript."""
    record: list[Message] = talk["steps"][step]["record"]
    if not is_transcript(record):
        expect.fail(
            "h.messages is not a list of messages.",
            expected="user, assistant and toolResult messages",
            observed=str(record)[:500],
            about="Harness",
        )
    return record


def answered(expect: Expect, talk: dict[str, Any], step: int, words: str, wrong: str = "") -> None:
    """The prompt of that step must have been answered with the words that were planned for it."""
    record = recorded(expect, talk, step)
    last = record[-1] if record else {}
    refused = str(last.get("error_message") or "")
    expect.holds(
        last.get("content") == lab.say(words)["content"],
        f"prompt {step + 1} was refused: {refused}" if refused else f"prompt {step + 1} was not answered.",
        expected=f"the record ends on assistant -> {words!r}",
        observed=f"the record is {shape(record)}"
        + (f" and ends on [error: {refused}]" if refused else ""),
        wrong=(wrong or "not-repaired") if refused.startswith("400") else "",
        hint="Print what context_for_model makes of the record just before that prompt.",
        about=VIEW,
    )


def requests_are_valid(expect: Expect, talk: dict[str, Any]) -> None:
    """No request may have been one that a provider refuses, not even one that was sent again."""
    for number, request in enumerate(talk["requests"], 1):
        complaints = lab.validate(request) if is_transcript(request) else ["it is no transcript"]
        expect.holds(
            not complaints,
            f"model call {number} was sent a transcript that a provider refuses.",
            expected="every request is valid before it is sent",
            observed=f"{shape(request)}: {'; '.join(complaints)}",
            wrong="refused-first",
            hint="Mend before sending. A refusal has been paid for.",
            about=VIEW,
        )


@rule("every-request-is-repaired")
def test_walk_away_recovers(play: Play, draw: Draw, expect: Expect) -> None:
    """After the user has walked away from a tool, the next two prompts are answered."""
    first, tool = draw.text(), {"name": draw.tool(), "says": draw.text()}
    call = lab.call(tool["name"], {"path": draw.path()})
    (one, said_one), (two, said_two) = [(draw.text(), draw.text()) for _ in "12"]
    steps: list[dict[str, Any]] = [{"prompt": first, "stop_on": "tool_execution_start", "replay_stop": 5}]
    steps += [{"prompt": one}, {"prompt": two}]
    walked = {
        "tools": [tool],
        "answers": [
            {"said": first, "replies": [lab.reply(call), lab.say(draw.text())]},
            {"said": one, "replies": [lab.say(said_one)]},
            {"said": two, "replies": [lab.say(said_two)]},
        ],
        "steps": steps,
    }
    # Another Harness, before this one, has had the same call id and did get its result.
    stayed = {**walked, "steps": [{"prompt": first}]}
    _, talk = conversation(
        play, [stayed, walked], "a run closed at tool_execution_start, then two prompts"
    )
    left = recorded(expect, talk, 0)
    expect.equal(
        shape(left),
        "U A[c1]",
        f"the run that was walked away from left {shape(left)} in h.messages.",
        about="run_agent",
    )
    expect.equal(talk["ran"], [], "a tool ran although the run was closed before it.", about="run_agent")
    answered(expect, talk, 1, said_one)
    answered(expect, talk, 2, said_two, "repaired-once")
    final = recorded(expect, talk, 2)
    expect.equal(
        shape(final),
        "U A[c1] U A U A",
        f"h.messages is {shape(final)} after the two prompts.",
        wrong={"record-repaired": lambda seen: "R(c1)" in seen},
        hint="The hole stays in the record; it is filled in what is sent.",
        about="Harness",
    )
    requests_are_valid(expect, talk)
    expect.equal(
        talk["requests"][1] if len(talk["requests"]) > 1 else [],
        [*left, made_up(left, "c1"), final[2]],
        "the request after the walk-away is not the record with c1 answered.",
        wrong={"remembers": lambda items: tool["says"] in str(items)},
        about=VIEW,
    )


@rule("failed-reply-never-acts")
def test_failed_reply_never_runs(play: Play, draw: Draw, expect: Expect) -> None:
    """A call in a reply that failed is shown as interrupted and never carried out."""
    tool = {"name": draw.tool(), "says": draw.text()}
    first, second, words = draw.texts(3)
    cut = lab.fail(
        "stream ended before the message was complete",
        lab.text(draw.text()),
        lab.call(tool["name"], {"path": draw.path()}),
    )
    spec = {
        "tools": [tool],
        "answers": [
            {"said": first, "replies": [cut, lab.say(draw.text())]},
            {"said": second, "replies": [lab.say(words)]},
        ],
        "steps": [{"prompt": first}, {"prompt": second}],
    }
    (talk,) = conversation(play, [spec], "a reply that failed with half a call in it, then a prompt")
    expect.equal(
        talk["ran"],
        [],
        "the call of a reply that failed was carried out.",
        wrong={"call-executed": lambda ran: isinstance(ran, list) and bool(ran)},
        hint="A reply whose stop_reason is error is not acted on, not even in part.",
        about="run_agent",
    )
    left = recorded(expect, talk, 0)
    expect.equal(
        shape(left), "U A[c1](error)", f"the record after the failure is {shape(left)}.", about="run_agent"
    )
    answered(expect, talk, 1, words, "call-left-open")
    expect.equal(
        talk["requests"][1] if len(talk["requests"]) > 1 else [],
        [*left, made_up(left, "c1"), *recorded(expect, talk, 1)[2:3]],
        "the request after the failed reply is not the record with c1 answered.",
        wrong={
            "failed-reply-dropped": lambda items: shape(items) == "U U",
            "call-left-open": lambda items: shape(items) == "U A[c1](error) U",
        },
        about=VIEW,
    )
    requests_are_valid(expect, talk)


@rule("only-unfinished-calls")
def test_walk_away_after_every_event(play: Play, draw: Draw, expect: Expect) -> None:
    """Walked away from after any event, the conversation goes on, and no finished tool is denied."""
    tool = {"name": draw.tool(), "says": draw.text()}
    job, (one, said_one), (two, said_two) = draw.text(), draw.texts(2), draw.texts(2)
    paths = [draw.path() for _ in "123"]
    asked = [lab.call(tool["name"], {"path": path}) for path in paths]
    spec = {
        "tools": [tool],
        "answers": [
            {
                "said": job,
                "replies": [
                    lab.reply(lab.text(draw.text()), *asked[:2]),
                    lab.reply(lab.text(draw.text()), asked[2]),
                    lab.say(draw.text()),
                ],
            },
            {"said": one, "replies": [lab.say(said_one)]},
            {"said": two, "replies": [lab.say(said_two)]},
        ],
    }
    specs = [
        {**spec, "steps": [{"prompt": job, "stop_after": k}, {"prompt": one}, {"prompt": two}]}
        for k in range(1, 22)
    ]
    talks = conversation(play, specs, "a job of three calls, closed after each of its events")
    for k, (plan, talk) in enumerate(zip(specs, talks, strict=True), 1):
        play.case(
            given=f"a job of three calls, closed after event {k}, then two prompts",
            replay=session_code(plan),
        )
        answered(expect, talk, 1, said_one)
        answered(expect, talk, 2, said_two)
        requests_are_valid(expect, talk)
        only_unfinished(expect, talk)
    left = recorded(expect, talks[-1], 0)
    complaints = lab.validate(left)
    expect.holds(
        not complaints,
        "a run that was listened to until its end left a record that is not valid.",
        expected="a valid record",
        observed=f"{shape(left)}: {'; '.join(complaints)}",
        about="run_agent",
    )


def only_unfinished(expect: Expect, talk: dict[str, Any]) -> None:
    """INTERRUPTED may be shown only for calls whose tool did not run, and never be recorded."""
    record = recorded(expect, talk, -1)
    ran = str(talk["ran"])
    finished = [
        call["id"] for message in record for call in calls(message) if str(call["arguments"]) in ran
    ]
    shown = {
        message["tool_call_id"]
        for request in talk["requests"]
        for message in request
        if message["role"] == "toolResult" and message["content"] == INTERRUPTED
    }
    denied = sorted(shown & set(finished))
    expect.equal(
        denied,
        [],
        f"the model was told that {', '.join(denied)} was interrupted, though its tool had run.",
        wrong={"announced-before-recorded": lambda seen: bool(seen)},
        hint="Between the tool's return and the result going on the record there may be no yield.",
        about="run_agent",
    )
    expect.holds(
        INTERRUPTED not in [m["content"] for m in record if m["role"] == "toolResult"],
        "a made-up result is in h.messages.",
        expected="made-up results are in what is sent, never in the record",
        observed=shape(record),
        wrong="record-repaired",
        about="Harness",
    )
