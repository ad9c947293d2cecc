"""The hidden tests of lesson 7: a run says what happened, and somebody else decides how it looks.

A `Story` is a run as it has to be: the messages that it records and the events that tell of them. The
tests write the story from their own values and then compare it with what a submission's run told.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import lab

from grader.inside import replay
from grader.inside.compare import Line, cut, differing, equal, what_is
from grader.inside.plain import NOT_PLAIN
from grader.inside.testing import GIVEN, rule
from grader.inside.transcripts import (
    apart,
    events_apart,
    fields_apart,
    labels,
    named,
    shape,
    uncounted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.inside.testing import Draw, Expect, Play

    Data = dict[str, Any]
    Ideas = dict[str, Callable[[Any], bool]]
    Turn = tuple[Data, list[Data]]

LOOP, TEXT, JSON = "run_agent", "FinalTextRenderer", "JsonRenderer"
FACTS: dict[str, tuple[str, ...]] = {  # what an event of each kind has to carry; more is free
    "agent_start": (),
    "turn_start": (),
    "message_end": ("message",),
    "tool_execution_start": ("call",),
    "tool_execution_end": ("call", "result"),
    "turn_end": ("message",),
    "agent_end": ("messages",),
}
CARRIES = {  # what a wrong fact should have been, for somebody who looks for the line
    "message_end": "A message_end carries the message that was recorded just before it, whole.",
    "tool_execution_start": "It carries the call as it stands in the reply.",
    "tool_execution_end": "It carries the call that has just been answered, and the whole result.",
    "turn_end": "A turn_end carries the turn's reply, whatever has been recorded since.",
    "agent_end": "An agent_end carries the messages that this run has added, in a list of its own.",
}
EXECUTION = ("tool_execution_start", "message_end", "tool_execution_end")
ENOUGH = 80  # events; no run of these tests has that many, so one that has will not end by itself
# How a replay listens, and what it shows afterwards.
LISTEN = """\
for event in run:
    print(event, "- record:", lab.shape(messages))
"""
KEEP = """\
events = []
for event in run:
    events.append(event)
    print(event, "- record:", lab.shape(messages))
print("the same events afterwards:", *events, sep="\\n")
"""
SHOW = """\
print(lab.show(messages, clip=200))
print("model calls:", [lab.shape(request.messages) for request in model.calls])
"""
HUSH = """\
print("--- between these two lines nothing may be printed")
events = list(run)
print("---")
"""
# The events of a run, for a replay that feeds a frontend.
EVENTS = """\
def events(*turns):  # of each turn what was said; what tools gave is left out
    yield {"type": "agent_start"}
    for turn in turns:
        yield {"type": "turn_start"}
        yield from ({"type": "message_end", "message": message} for message in turn)
        yield {"type": "turn_end", "message": turn[-1]}
    yield {"type": "agent_end", "messages": sum(turns, [])}
"""
# How the scenes write down what they saw.
RAISED = (None, {"type": str, "text": str, "line": (int, None)})
STANDING = {"record": list, "ran": int}
NO_RUN = {"is_run": False, "returned": object}
RUN = {
    "is_run": bool,
    "returned": object,
    "before": {"calls": int, "record": list},
    "events": list,
    "records": [list, ...],
    "printed": str,
    "later": list,
}
LEFT = {
    "is_run": True,
    "returned": None,
    "events": list,
    "left": STANDING,
    "closable": bool,
    "closing": RAISED,
    "after": STANDING,
}
WRITTEN = {"event": object, "tuples": [str, ...], "raised": RAISED, "printed": str}
SHAPES: Data = {
    "runs": lambda plays: [
        {
            "runs": [RUN for _ in play["runs"]],
            "record": list,
            "ran": [{"tool": str, "arguments": object}, ...],
            "requests": [{"system": object, "messages": object}, ...],
        }
        for play in plays
    ],
    "stops": lambda after, **_: [(NO_RUN, LEFT) for _ in after],
    "json_lines": lambda **_: (
        NO_RUN,
        {
            "is_run": True,
            "returned": None,
            "lines": [WRITTEN, ...],
            "record": list,
            "model_calls": int,
        },
    ),
    "final_texts": lambda feeds, **_: [
        {"made": str, "heard": [str for _ in feed], "value": object, "out": str, "err": str}
        for feed in feeds
    ],
}


# --- what a run has to tell -------------------------------------------------------------------------


@dataclass(frozen=True)
class Story:
    """A run: the messages that it adds to the record, and its events."""

    added: list[Data]
    events: list[Data]
    said: tuple[list[Data], ...] = ()  # in each turn, by the user and by the model

    @property
    def types(self) -> list[str]:
        """The kinds of its events, in order."""
        return [event["type"] for event in self.events]

    def without(self, *kinds: str) -> list[str]:
        """The kinds of its events, but for these."""
        return [kind for kind in self.types if kind not in kinds]


def story(prompt: str, *turns: Turn) -> Story:
    """The run that takes `prompt` and these turns, each a reply and the results of its calls."""
    added: list[Data] = []
    events: list[Data] = [{"type": "agent_start"}]

    def record(message: Data) -> None:
        added.append(message)
        events.append({"type": "message_end", "message": message})

    for number, (reply, results) in enumerate(turns):
        events.append({"type": "turn_start"})
        if number == 0:
            record(lab.user(prompt))
        record(reply)
        for call, result in zip(calls(reply), results, strict=False):
            events.append({"type": "tool_execution_start", "call": call})
            record(result)
            events.append({"type": "tool_execution_end", "call": call, "result": result})
        events.append({"type": "turn_end", "message": reply})
    events.append({"type": "agent_end", "messages": list(added)})
    said = [[reply] for reply, _ in turns]
    said[0].insert(0, lab.user(prompt))
    return Story(added, events, tuple(said))


def calls(message: Data) -> list[Data]:
    return [block for block in message["content"] if block["type"] == "toolCall"]


def stopped(max_turns: int) -> Data:
    message: Data = lab.fail(f"Agent stopped after max_turns={max_turns}")
    return message


def tool(draw: Draw) -> Data:
    return {"name": draw.tool(), "says": draw.text()}


def ask(draw: Draw, spec: Data) -> Data:
    """A call of that tool."""
    call: Data = lab.call(spec["name"], {"path": draw.path()}, id=draw.id())
    return call


def working(draw: Draw) -> Turn:
    """A turn: a reply with words and a call, and the call's result."""
    spec = tool(draw)
    call = ask(draw, spec)
    return lab.reply(lab.text(draw.text()), call), [lab.tool_result(call, spec["says"])]


def failure(draw: Draw) -> str:
    """What a provider says when it fails."""
    return f"{draw.number(500, 599)} {draw.word()} {draw.word()}"


# --- reading what a submission's run told -----------------------------------------------------------


def kind_of(event: Any) -> str:
    """What an event calls itself, or a word for what is no event."""
    if not isinstance(event, dict):
        return f"(no event: {clipped(event)})"
    if NOT_PLAIN in event:
        return f"(no event: {event[NOT_PLAIN]})"
    kind = event.get("type")
    return kind if isinstance(kind, str) else f"(no type: {clipped(event)})"


def clipped(value: Any) -> str:
    return json.dumps(value)[:80]


def kinds_of(events: Any) -> list[str]:
    return [kind_of(event) for event in events]


def shown(event: Any) -> Any:
    """An event with the facts that its kind has to carry. What else it carries is free."""
    facts = FACTS.get(kind_of(event))
    if facts is None:
        return event
    return {key: uncounted(event[key]) for key in ("type", *facts) if key in event}


def told(events: Any) -> list[Any]:
    """The messages that were announced, in order."""
    messages = [shown(event).get("message") for event in events if kind_of(event) == "message_end"]
    return [message for message in messages if message is not None]


# --- playing ----------------------------------------------------------------------------------------


def job(
    draw: Draw,
    script: list[Data],
    tools: Sequence[Data] = (),
    messages: Sequence[Data] = (),
    *,
    received: bool = False,
) -> Data:
    """A model with its script, the tools, and what is on the record already.

    `received`: its replies are made of strings of their own, as they are when they were read from JSON.
    """
    return {
        "script": script,
        "received": received,
        "system": draw.text(),
        "tools": list(tools),
        "messages": list(messages),
        "runs": [],
    }


def heard(
    play: Play,
    given: str,
    work: Data,
    prompt: str,
    max_turns: int | None = None,
    listen: str = LISTEN + SHOW,
) -> tuple[Data, Data]:
    """Listen to one run to its end: the run, and what is there afterwards."""
    plan = {**work, "runs": [order(prompt, max_turns)]}
    play.case(
        given=given,
        replay=lambda: code_of(plan) + listen,
        hint="Run the lines below: they show what your loop tells, and the record beside it.",
    )
    (seen,) = play("runs", plays=[plan])
    return seen["runs"][0], seen


def order(prompt: str, max_turns: int | None = None) -> Data:
    return {"prompt": prompt, "max_turns": max_turns, "most": ENOUGH}


def code_of(plan: Data, *, noted: bool = False) -> str:
    """Lines that set the job up and start its first run; `noted`: the tools note that they ran."""
    plan = {**plan, "tools": [t for t in plan["tools"] if t["name"] in str(plan["script"])]}
    lines = ["import json", "", "import harness, lab", ""] if plan["received"] else []
    lines = lines or ["import harness, lab", ""]
    if plan["tools"]:
        lines.append(replay.tools(plan["tools"], noted=noted))
    script = f"[{', '.join(map(step_code, plan['script']))}]"
    if plan["received"]:
        lines.append(replay.wrapped(f"script = {script}"))
        script = "json.loads(json.dumps(script))"  # as it comes over a wire
    earlier = ", ".join(map(replay.message, plan["messages"]))
    lines += [f"model = lab.ScriptedModel({script})", f"messages = [{earlier}]"]
    lines.append(start_code(plan, plan["runs"][0]))
    return "\n".join(map(replay.wrapped, lines)) + "\n"


def start_code(plan: Data, run: Data, *, check: bool = True) -> str:
    """Lines that start a run, and say what came back."""
    tools = "tools" if plan["tools"] else "[]"
    limit = "" if run["max_turns"] is None else f", max_turns={run['max_turns']}"
    system = replay.code(plan["system"])
    prompt = replay.code(run["prompt"])
    lines = [f"run = harness.run_agent(model, {system}, messages, {tools}, {prompt}{limit})"]
    if check:
        lines.append(
            'assert hasattr(run, "__next__"), f"run_agent returned a {type(run).__name__}"'
        )
        lines.append('print("before the first event:", lab.shape(messages))')
    return "\n".join(map(replay.wrapped, lines))


def step_code(step: Data) -> str:
    if "forever" in step:
        return f"lab.forever({replay.message(step['forever'])})"
    return replay.message(step)


# --- checking ---------------------------------------------------------------------------------------


def check_run(expect: Expect, seen: Data) -> None:
    """What run_agent gave back has to be something that can be listened to."""
    if seen["is_run"]:
        return
    back = seen["returned"]
    wrong, what = "", what_is(back)
    if isinstance(back, list):
        wrong = "list-handed-over"
    elif isinstance(back, dict) and "role" in back:
        wrong, what = "returns-the-message", "a message (a dict), the last of the run"
    expect.fail(
        f"run_agent returned {what}. A run is a generator: it hands over one event at a time.",
        expected="a generator of events",
        observed=what,
        wrong=wrong,
        hint="Calling a function runs its body, unless there is a `yield` in it: then iterating does.",
    )


def check_types(expect: Expect, run: Data, wanted: Story, ideas: Ideas) -> None:
    """The events have to be these kinds, in this order, no more and no fewer."""
    check_run(expect, run)
    record = run["records"][-1] if run["records"] else []
    check_events(expect, run["events"])
    check_messages(expect, run["events"], wanted)
    if "message_end" not in kinds_of(run["events"]):
        check_recorded(expect, run["events"], record)
    expect.equal(
        kinds_of(run["events"]),
        wanted.types,
        events_apart(list(map(shown, run["events"])), wanted.events, record),
        wrong={**ideas, **always(run, wanted)},
        hint="Which line of the loop sends the event that is marked, or should send it?",
        shown=(labels(wanted.events), labels(run["events"])),
    )


def check_events(expect: Expect, events: Any) -> None:
    """Each event has to be a dict."""
    for at, event in enumerate(events):
        what = what_is(event)
        expect.holds(
            isinstance(event, dict) and NOT_PLAIN not in event,
            f"event {at + 1} is {what}; an event is a dict with a type.",
            expected="a dict",
            observed=what,
            wrong="not-delegated" if what == "a generator" else "not-plain",
            hint="Which `yield` sends it?",
        )


def check_recorded(
    expect: Expect, events: Any, record: Any, before: list[Data] | None = None
) -> None:
    """Something has to be on the caller's list after a run; `before` is what was there before it."""
    nothing = equal(uncounted(record), before or [])
    announced = "message_end" in kinds_of(events)
    if nothing and not announced:
        check_events(expect, events)
    expect.holds(
        not nothing or announced or not events,
        "no message_end came, and nothing that the run said and did is on the record.",
        expected="each message goes on the record, then its message_end goes out",
        observed="neither of the two",
        wrong="not-delegated",
        hint="Are the lines reached that append a message and announce it?",
    )
    if nothing and announced:
        nothing_added(expect)


def nothing_added(expect: Expect) -> None:
    """The caller's list is as it was."""
    expect.fail(
        f"{HANDED_IN} is after the run as it was before: nothing that was said and done is on it.",
        expected="the messages that were announced are on it",
        observed="nothing was added to it",
        wrong="record-elsewhere",
        hint="Append to `messages` itself: that list is what the caller keeps.",
    )


def check_messages(expect: Expect, events: Any, wanted: Story) -> None:
    """As far as the events are of the right kinds, each message in one has to be a message."""
    for at, (event, due) in enumerate(zip(events, wanted.events, strict=False)):
        kind = due["type"]
        if kind_of(event) != kind:
            return
        fact = event.get("message")
        if "message" not in due or fact is None or isinstance(fact, dict):
            continue  # what a message holds is looked at elsewhere
        expected, observed, diff = differing(due["message"], fact)
        expect.fail(
            f"event {at + 1}, {an(kind)}, carries {what_is(fact)} as its 'message';"
            " the whole message, a dict, is due there.",
            expected=expected,
            observed=observed,
            diff=diff,
            hint=f"{CARRIES[kind]} What does the line that sends it put there?",
        )


def an(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times" if count else "not at all")


def always(run: Data, wanted: Story) -> Ideas:
    """The wrong ideas that can show in any sequence of events, the most telling first."""
    events = run["events"]

    def extra(types: list[str]) -> bool:
        return any(kind not in FACTS and not kind.startswith("(") for kind in types)

    def not_delegated(types: list[str]) -> bool:
        generators = any(kind == "(no event: a generator)" for kind in types)
        silent = types == wanted.without("message_end") and run["records"][-1:] == [[]]
        return generators or silent

    def before_the_turn(types: list[str]) -> bool:
        same = sorted(types) == sorted(wanted.types)
        return same and types.index("message_end") < types.index("turn_start")

    def left_open(types: list[str]) -> bool:
        closing = ("turn_end", "agent_end")
        rest = [kind for kind in types if kind not in closing]
        fewer = all(types.count(kind) <= wanted.types.count(kind) for kind in closing)
        return fewer and len(types) < len(wanted.types) and rest == wanted.without(*closing)

    def end_first(types: list[str]) -> bool:
        row, start, end = "\n".join(wanted.types), EXECUTION[0], EXECUTION[2]
        swapped = row.replace("\n".join(EXECUTION), f"{start}\n{end}\nmessage_end")
        return swapped != row and types == swapped.split("\n")

    return {
        "extra-kind": extra,
        "not-delegated": not_delegated,
        "prompt-before-the-turn": before_the_turn,
        "prompt-not-announced": lambda _: told(events) == wanted.added[1:],
        "end-before-result": end_first,
        "exit-left-open": left_open,
    }


def check_facts(
    expect: Expect,
    events: Any,
    wanted: Story,
    which: Callable[[int, str], bool] = lambda _at, _kind: True,
    ideas: Ideas | None = None,
) -> None:
    """Events whose kinds are right have to carry the right things; `which` picks those looked at.

    `ideas` look at the event, as `shown`.
    """
    for at, (due, came) in enumerate(zip(wanted.events, events, strict=False)):
        kind = due["type"]
        if not which(at, kind):
            continue
        event = shown(came)
        looks_like = next((name for name, idea in (ideas or {}).items() if idea(event)), "")
        for key in FACTS[kind]:
            if key not in event:
                expect.fail(
                    f"event {at + 1}, {an(kind)}, carries no {key!r}.",
                    expected=facts_line(due),
                    observed=facts_line(event),
                    wrong=looks_like,
                    hint="The list above the gap says what an event of each kind carries.",
                )
            if not equal(event[key], due[key]):
                expected, observed, diff = differing(due[key], event[key])
                expect.fail(
                    f"event {at + 1}, {an(kind)}, {not_what_is_due(key, event[key], due[key])}.",
                    expected=expected,
                    observed=observed,
                    diff=diff,
                    wrong=looks_like,
                    hint=f"{CARRIES[kind]} What does the line that sends it put there?",
                )


def not_what_is_due(key: str, fact: Any, due: Any) -> str:
    """How what an event carries differs from what it should carry."""
    if type(fact) is not type(due):
        return f"carries {what_is(fact)} as its {key!r}, where {what_is(due)} is due"
    if isinstance(due, list):
        return apart(f"has the wrong {key!r}: its list", fact, due).rstrip(".")
    if key == "call":
        return f"carries the call {cut(str(fact.get('id')), 40)}, where {due['id']} is due"
    if named(fact) == named(due):
        return f"carries {named(due)}, with another {' and '.join(fields_apart(fact, due))}"
    return f"carries {named(fact)}, where {named(due)} is due{refused(fact)}"


def facts_line(event: Data) -> str:
    return cut(json.dumps(event, ensure_ascii=False), 600)


def refused(value: Any) -> str:
    """What a provider said, where a message is its refusal."""
    reason = value.get("error_message") if isinstance(value, dict) else None
    return f": the request was refused ({reason})" if str(reason).startswith("400") else ""


def check_record(
    expect: Expect, record: Any, wanted: list[Data], ideas: Ideas | None = None
) -> None:
    """The caller's list has to hold these messages."""
    if record == []:
        nothing_added(expect)
    expect.equal(
        uncounted(record),
        wanted,
        apart(HANDED_IN, uncounted(record), wanted),
        wrong=ideas,
        hint="Which line of the loop puts a message on that list at this point, or should?",
    )


HANDED_IN = "`messages`, the list that was handed in,"


def check_calls(expect: Expect, count: int, wanted: Story) -> None:
    """The model must not have been called again once its reply has failed."""
    due = sum(message["role"] == "assistant" for message in wanted.added)
    expect.holds(
        count <= due or wanted.added[-1].get("stop_reason") != "error",
        f"the model was called again after its reply had failed: {times(count)} in all.",
        expected=f"the model is called {times(due)}, and the failed reply ends the run",
        observed=f"the model was called {times(count)}",
        wrong="went-on-after-failure",
        hint="After a failed reply the run closes its turn and then itself, without another turn.",
    )


def check_limit(expect: Expect, count: int, limit: int) -> None:
    """The model has to be called as often as the limit allows, and no more."""
    how = "more" if count > limit else "less"
    expect.holds(
        count == limit,
        f"the model was called {how} often than max_turns allows, though it goes on asking.",
        expected=f"model calls: {limit}",
        observed=f"model calls: {count}",
        wrong="stopped-too-early"
        if count < limit
        else "stopped-after-the-call"
        if count == limit + 1
        else "no-limit",
        hint="The limit is looked at after turn_start and before the model is called.",
    )


def announcements_and_ending(wanted: Story) -> Callable[[int, str], bool]:
    """What was announced, and the two events that close the run."""
    return lambda at, kind: kind == "message_end" or at >= len(wanted.events) - 2


# --- the exact sequences ----------------------------------------------------------------------------


@rule("one-event-a-fact")
def test_text_only_run(play: Play, draw: Draw, expect: Expect) -> None:
    """A reply in words makes six events, and nothing happens before they are asked for."""
    prompt, words = draw.texts(2)
    wanted = story(prompt, (lab.say(words), []))
    work = job(draw, [lab.say(words)])
    run, after = heard(play, "a reply in words only", work, prompt)
    check_run(expect, run)
    expect.equal(
        run["before"]["record"],
        [],
        f"the record was {shape(run['before']['record'])} before the first event had been asked for.",
        wrong={
            "recorded-on-the-call": lambda seen: seen == wanted.added[:1],
            "list-handed-over": lambda seen: uncounted(seen) == wanted.added,
        },
        hint="Nothing of a generator's body runs when it is called. Is there a function around it?",
    )
    expect.equal(
        run["before"]["calls"],
        0,
        "the model had been called before the first event was asked for.",
        shown=([Line("no model call")], [Line(f"{run['before']['calls']} model calls")]),
        wrong={"list-handed-over": lambda seen: seen == 1},
        hint="Nothing of a generator's body runs when it is called. Is there a function around it?",
    )
    check_types(expect, run, wanted, {})
    for kind, record in zip(wanted.types[:2], run["records"], strict=False):
        expect.equal(
            record,
            [],
            f"at {kind} the record is {shape(record)} already.",
            wrong={"prompt-before-the-turn": lambda seen: seen == wanted.added[:1]},
            hint="The prompt is recorded inside the first turn, when its turn_start has gone out.",
        )
    check_facts(expect, run["events"], wanted)
    check_record(expect, after["record"], wanted.added)
    expect.equal(
        [request["system"] for request in after["requests"]],
        [work["system"]],
        "the model was not called with the `system` that run_agent was given.",
        hint="What does the loop hand to model.complete first?",
    )
    goes_through_the_context(play, draw, expect)


def goes_through_the_context(play: Play, draw: Draw, expect: Expect) -> None:
    """Each request is what context_for_model makes of the record: an empty failure is not sent."""
    before, prompt, words = draw.texts(3)
    earlier = [lab.user(before), lab.fail(f"{draw.number(500, 599)} {draw.word()}")]
    work = job(draw, [lab.say(words)], messages=earlier)
    run, after = heard(play, "a record that ends on an empty failed reply", work, prompt)
    check_run(expect, run)
    expect.equal(
        [request["messages"] for request in after["requests"]],
        [[earlier[0], lab.user(prompt)]],
        "the model was sent "
        + " and ".join(shape(request["messages"]) for request in after["requests"])
        + f", where {shape([earlier[0], lab.user(prompt)])} is what context_for_model makes of the record.",
        wrong={"sends-the-record": lambda seen: seen == [[*earlier, lab.user(prompt)]]},
        hint="Which list does the loop hand to model.complete?",
        shown=([earlier[0], lab.user(prompt)], first_request(after)),
    )


def first_request(after: Data) -> Any:
    return after["requests"][0]["messages"] if after["requests"] else "no request"


@rule("result-inside-its-execution")
def test_one_tool_call(play: Play, draw: Draw, expect: Expect) -> None:
    """A run with one tool call makes twelve events, and each carries its facts."""
    prompt, first, last = draw.texts(3)
    spec = tool(draw)
    call = ask(draw, spec)
    reply, result = lab.reply(lab.text(first), call), lab.tool_result(call, spec["says"])
    wanted = story(prompt, (reply, [result]), (lab.say(last), []))
    work = job(draw, [reply, lab.say(last)], [spec])
    given = "a reply with one tool call, then the answer"
    run, after = heard(play, given, work, prompt, listen=KEEP + SHOW)
    silent = [message for message in wanted.added if message != result]
    check_types(
        expect, run, wanted, {"result-not-announced": lambda _: told(run["events"]) == silent}
    )
    ideas: Ideas = {
        "turn-end-without-reply": lambda event: (
            event["type"] == "turn_end" and event.get("message") in (None, result)
        ),
        "only-the-text": lambda event: event.get("result") == spec["says"],
    }
    check_facts(expect, run["events"], wanted, ideas=ideas)
    expect.equal(
        [used["arguments"] for used in after["ran"]],
        [call["arguments"]],
        f"the tool ran {times(len(after['ran']))}, and it should run once, with the call's arguments.",
        hint="run_tool(tools, call) does it all; it is called once for each call.",
    )
    kept = run["later"]
    expect.holds(
        kinds_of(kept) == wanted.types and all(map(equal, map(shown, kept), wanted.events)),
        "events that had been handed over were changed afterwards.",
        expected="\n".join(map(facts_line, wanted.events)),
        observed="\n".join(facts_line(shown(event)) for event in kept),
        wrong="changed-afterwards",
        hint="Build a new dict for each event; whoever keeps events wants to find them as they were.",
    )


@rule("one-turn-many-calls")
def test_two_calls_in_one_reply(play: Play, draw: Draw, expect: Expect) -> None:
    """Two calls in one reply are run one after the other in one turn, also where they go wrong."""
    specs = [tool(draw), tool(draw)]
    asked = [ask(draw, spec) for spec in specs]
    results = [lab.tool_result(c, s["says"]) for c, s in zip(asked, specs, strict=True)]
    two_calls(play, draw, expect, "two tool calls in one reply", specs, asked, results)

    kind = draw.choice(["FileNotFoundError", "ValueError", "OSError"])
    broken = {**tool(draw), "raises": kind}
    lost = {"name": draw.choice(["raed", "wriet", "bsah"]) + draw.word(), "says": ""}
    asked = [ask(draw, broken), ask(draw, lost)]
    results = [
        lab.tool_result(asked[0], broken["says"], is_error=True),
        lab.tool_result(asked[1], f"Tool {lost['name']} not found", is_error=True),
    ]
    given = f"two calls in one reply: a tool that raises {kind}, and a name that no tool has"
    two_calls(play, draw, expect, given, [broken], asked, results)


def two_calls(
    play: Play,
    draw: Draw,
    expect: Expect,
    given: str,
    specs: list[Data],
    asked: list[Data],
    results: list[Data],
) -> None:
    """Play a reply with these calls and no words, and check that each gets its three events."""
    prompt, last = draw.texts(2)
    reply = lab.reply(*asked)
    wanted = story(prompt, (reply, results), (lab.say(last), []))
    run, after = heard(play, given, job(draw, [reply, lab.say(last)], specs), prompt)
    events = in_its_own_words(run["events"], results)
    run = {**run, "events": events}
    end = wanted.types.index("turn_end")
    opening, closing = wanted.types[: end - 2 * len(EXECUTION)], wanted.types[end:]
    start, result, stop = EXECUTION
    started = [*opening, start, start, result, stop, result, stop, *closing]
    apart = [*opening, *EXECUTION, "turn_end", "turn_start", *EXECUTION, *closing]
    once = [*opening, *EXECUTION, *closing]
    wordless = [message for message in wanted.added if message != reply]
    ideas: Ideas = {
        "all-started-first": lambda types: types == started,
        "a-turn-for-each-call": lambda types: types == apart,
        "call-skipped": lambda types: (
            types[: len(once) - len(closing)] == [*opening, *EXECUTION]
            and types.count(start) < len(asked)
        ),
        "wordless-not-announced": lambda _: told(events) == wordless,
    }
    check_types(expect, run, wanted, ideas)
    check_facts(expect, events, wanted, lambda _at, kind: kind in EXECUTION)
    check_record(expect, in_its_own_words(after["record"], results), wanted.added)


def in_its_own_words(value: Any, results: list[Data]) -> Any:
    """Seen data in which a failed tool's report counts as the plain text of its exception.

    How much a harness wraps around that text is its own affair.
    """
    if isinstance(value, list):
        return [in_its_own_words(item, results) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("role") == "toolResult" and value.get("is_error") is True:
        for result in results:
            content = value.get("content")
            answers = value.get("tool_call_id") == result["tool_call_id"]
            if answers and isinstance(content, str) and result["content"] in content:
                return {**value, "content": result["content"]}
    return {key: in_its_own_words(item, results) for key, item in value.items()}


# --- the other ways out -----------------------------------------------------------------------------


@rule("the-limit-is-a-turn")
def test_max_turns_stop(play: Play, draw: Draw, expect: Expect) -> None:
    """A run that meets its limit stops in a turn of its own, without calling the model again."""
    for limit in (2, draw.choice([1, 3, 4])):
        stopping(play, draw, expect, limit)
    prompt, last = draw.texts(2)
    reply, results = working(draw)
    spec = {"name": results[0]["tool_name"], "says": results[0]["content"]}
    wanted = story(prompt, (reply, results), (lab.say(last), []))
    work = job(draw, [reply, lab.say(last)], [spec])
    run, _ = heard(play, "max_turns=2 and a model that answers in its second turn", work, prompt, 2)
    check_run(expect, run)
    expect.equal(
        told(run["events"]),
        wanted.added,
        apart("what was announced", told(run["events"]), wanted.added),
        wrong={"stopped-too-early": lambda seen: stopped(2) in seen},
        hint="When is the limit looked at, and what is it compared with?",
    )


def stopping(play: Play, draw: Draw, expect: Expect, limit: int) -> None:
    """A model that never stops asking, and a limit."""
    prompt, words = draw.texts(2)
    spec = tool(draw)
    path = {"path": draw.path()}
    turns = []
    for number in range(1, limit + 1):
        call = lab.call(spec["name"], path, id=f"c{number}")
        reply = lab.reply(lab.text(words), call)
        turns.append((reply, [lab.tool_result(call, spec["says"])]))
    wanted = story(prompt, *turns, (stopped(limit), []))
    asking = lab.reply(lab.text(words), lab.call(spec["name"], path))
    given = f"max_turns={limit} and a model that never stops asking for a tool"
    run, after = heard(play, given, job(draw, [{"forever": asking}], [spec]), prompt, limit)
    check_run(expect, run)
    check_recorded(expect, run["events"], after["record"])
    check_limit(expect, len(after["requests"]), limit)
    asked = wanted.types[:-4]  # all but the last turn and agent_end
    outside = (["message_end", "turn_end", "agent_end"], ["message_end", "agent_end"])
    turnless = [*([*asked, *end] for end in (*outside, ["agent_end"])), [*asked[:-1], *outside[0]]]
    check_types(
        expect,
        run,
        wanted,
        {
            "stop-without-a-turn": lambda types: types in turnless,
            "stop-not-announced": lambda _: told(run["events"]) == wanted.added[:-1],
        },
    )
    check_facts(expect, run["events"], wanted, announcements_and_ending(wanted))
    check_record(expect, after["record"], wanted.added)


@rule("a-failure-closes-too")
def test_provider_failure(play: Play, draw: Draw, expect: Expect) -> None:
    """A failed reply is announced, its turn and the run are closed, and nothing it asks for is done."""
    spec = tool(draw)
    at_once, later = (lab.fail(failure(draw)) for _ in "12")
    broken_off = lab.fail(failure(draw), lab.text(draw.text()), ask(draw, spec))
    call = ask(draw, spec)
    working_turn = (lab.reply(call), [lab.tool_result(call, spec["says"])])
    ways: dict[str, list[Turn]] = {
        "a provider that fails at once": [(at_once, [])],
        "a provider that fails in the second turn": [working_turn, (later, [])],
        "a reply that failed with words and a call in it": [(broken_off, [])],
    }
    for given, turns in ways.items():
        failing(play, draw, expect, given, turns, [spec])
    given = "a reply that failed with a call in it, where all replies were read from JSON"
    failing(play, draw, expect, given, [working_turn, (broken_off, [])], [spec], received=True)


def failing(
    play: Play,
    draw: Draw,
    expect: Expect,
    given: str,
    turns: list[Turn],
    specs: list[Data],
    *,
    received: bool = False,
) -> None:
    """A run whose last reply failed; the model would answer if it were called again."""
    prompt, never = draw.texts(2)
    wanted = story(prompt, *turns)
    script = [*(reply for reply, _ in turns), lab.say(never)]
    run, after = heard(play, given, job(draw, script, specs, received=received), prompt)
    check_run(expect, run)
    due = sum(len(results) for _, results in turns)
    expect.holds(
        len(after["ran"]) <= due,
        "a call in the failed reply was carried out.",
        expected=f"tools run: {due}",
        observed=f"tools run: {len(after['ran'])}",
        wrong="failed-call-executed",
        hint="A reply with stop_reason error may have arrived in part. Don't act on any of it.",
    )
    check_recorded(expect, run["events"], after["record"])
    check_calls(expect, len(after["requests"]), wanted)
    check_types(
        expect,
        run,
        wanted,
        {"failure-not-announced": lambda _: told(run["events"]) == wanted.added[:-1]},
    )
    check_facts(expect, run["events"], wanted, announcements_and_ending(wanted))
    check_record(expect, after["record"], wanted.added)


# --- the record under the events --------------------------------------------------------------------


@rule("recorded-then-announced")
def test_stop_after_any_event(play: Play, draw: Draw, expect: Expect) -> None:
    """Whenever the consumer walks away, the record holds what was announced and what was done."""
    prompt, last = draw.texts(2)
    spec = tool(draw)
    asked = [ask(draw, spec) for _ in range(draw.number(2, 3))]
    reply = lab.reply(*asked)
    results = [lab.tool_result(call, spec["says"]) for call in asked]
    wanted = story(prompt, (reply, results), (lab.say(last), []))
    plan = {**job(draw, [reply, lab.say(last)], [spec]), "runs": [order(prompt)]}
    counts: list[int | None] = [*range(1, len(wanted.events) + 1), None]
    what = f"a reply with {len(asked)} tool calls, then the answer"
    play.case(
        given=f"{what}; the run is closed after each of its events",
        replay=lambda: code_of(plan) + LISTEN,
        hint="Run the lines below: they print the record at each event.",
    )
    all_seen = play("stops", play=plan, after=counts)
    heard_out = all_seen[-1]
    check_run(expect, heard_out)
    in_the_end = uncounted(heard_out["left"]["record"])
    check_messages(expect, heard_out["events"], wanted)
    check_recorded(expect, heard_out["events"], in_the_end)
    for count, seen in zip(counts, all_seen, strict=True):
        play.case(
            given=f"{what}; the run is "
            + (f"closed after event {count}" if count else "heard out"),
            replay=partial(leaving_code, plan, count),
            hint="Run the lines below: they print the record and the tools' runs at each event.",
        )
        check_run(expect, seen)
        standing(expect, seen, count, wanted)
        if count is None:
            check_record(expect, seen["left"]["record"], wanted.added)
        else:
            closed(expect, seen, count)


def leaving_code(plan: Data, count: int | None) -> str:
    """Lines that listen to so many events of a run, then close it."""
    if count is None:
        return code_of(plan) + LISTEN + SHOW
    standing_now = 'lab.shape(messages), "- tools run:", len(ran)'
    return (
        f"{code_of(plan, noted=True)}for number, event in zip(range({count}), run):\n"
        f'    print(event, "- record:", {standing_now})\n'
        f'run.close()\nprint("after close():", {standing_now})\n'
    )


def standing(expect: Expect, seen: Data, count: int | None, wanted: Story) -> None:
    """The record has to be true at the event that was heard last."""
    record, ran = uncounted(seen["left"]["record"]), seen["left"]["ran"]
    last = shown(seen["events"][-1]) if seen["events"] else {}
    kind = kind_of(last)
    if count is not None and count <= 2:
        expect.equal(
            record,
            [],
            f"at {kind} the record is {shape(record)} already.",
            wrong={
                "prompt-before-the-turn": lambda now: now == wanted.added[:1],
                "ran-ahead": lambda now: len(now) > 1 and now == wanted.added[: len(now)],
            },
            hint="Nothing is recorded before the first turn_start has gone out.",
        )
    if count is not None and kind == "message_end":
        message, length = last.get("message"), len(record) if isinstance(record, list) else 0
        wrong = announced_when(message, record, wanted)
        expect.holds(
            length > 0 and equal(record, wanted.added[:length]) and equal(message, record[-1]),
            announced_and_recorded(message, record, wanted, wrong),
            expected=f"the record ends on {named(message)}",
            observed=f"the record is {shape(record)}",
            wrong=wrong,
            hint="Look at the line that appends this message, and at the one that announces it.",
        )
    held = sum(message.get("role") == "toolResult" for message in dicts(record))
    expect.holds(
        ran == held,
        f"at event {len(seen['events'])}, {kind}, tools have run {times(ran)}, and the record holds "
        f"{held or 'no'} result{'' if held == 1 else 's'}.",
        expected="as many results as tools that have run, at every event",
        observed=f"tools run: {ran}; the record is {shape(record)}",
        wrong="left-between" if ran > held and equal(record, wanted.added[: 2 + held]) else "",
        hint="Between the tool's return and its result going on the record there may be no yield.",
    )


def announced_and_recorded(message: Any, record: Any, wanted: Story, wrong: str) -> str:
    """What is wrong between an announcement and the record beside it."""
    if wrong == "announced-before-recorded":
        return f"a message_end announced {named(message)}, which is not on the record yet."
    if wrong == "ran-ahead":
        return f"a message_end announced {named(message)}, and the record was ahead of it by then."
    due = wanted.added[: len(record)] if isinstance(record, list) else wanted.added
    if not equal(record, due):
        return apart("the record beside this message_end", record, due)
    return f"a message_end announced {named(message)}, and the record ends on another message."


def announced_when(message: Any, record: Any, wanted: Story) -> str:
    """Which wrong idea an announcement beside this record looks like."""
    if not isinstance(record, list) or not equal(record, wanted.added[: len(record)]):
        return ""
    if equal(message, dict(enumerate(wanted.added)).get(len(record))):
        return "announced-before-recorded"
    return "ran-ahead" if message in record[:-1] else ""


def closed(expect: Expect, seen: Data, count: int) -> None:
    """Closing the run has to be the end of it, without a word."""
    expect.holds(
        seen["closable"],
        "the run has no close(), so nobody can say that they have heard enough.",
        expected="a generator, or something that can be closed like one",
        observed="something that can only be iterated",
        hint="A generator function gives something that has a close().",
    )
    closing = seen["closing"]
    if closing is not None:
        words = f"{closing['type']}: {closing['text']}"
        expect.fail(
            f"closing the run raised {words}.",
            expected="close() ends the run",
            observed=words,
            wrong="yields-while-closing" if "GeneratorExit" in closing["text"] else "",
            hint="Is there a yield in a `finally`, or an `except` that catches everything?",
        )
    expect.equal(
        [seen["after"]["ran"], uncounted(seen["after"]["record"])],
        [seen["left"]["ran"], uncounted(seen["left"]["record"])],
        f"the run went on when it had been closed after event {count}.",
        hint="close() is how a consumer says that it has had enough. Nothing may happen after it.",
        shown=([Line(stands(seen["left"]))], [Line(stands(seen["after"]))]),
    )


def stands(seen: Data) -> str:
    return f"the record is {shape(seen['record'])}, and tools have run {times(seen['ran'])}"


def dicts(items: Any) -> list[Data]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def line(message: Any) -> str:
    return cut(json.dumps(message, ensure_ascii=False), 300)


@rule("only-what-this-run-added")
def test_second_run_own_messages(play: Play, draw: Draw, expect: Expect) -> None:
    """Each run's agent_end carries the messages of that run and no others."""
    spec = tool(draw)
    earlier = [lab.user(draw.text()), lab.say(draw.text())]
    one, two = (turn_and_answer(draw, spec) for _ in "12")
    script = [message for message in [*one, *two] if message["role"] == "assistant"]
    plan = job(draw, script, [spec], earlier)
    plan["runs"] = [order(one[0]["content"]), order(two[0]["content"])]
    play.case(
        given="two runs, one after the other, on a list that holds two messages already",
        replay=lambda: (
            f"{code_of(plan)}first = list(run)\n"
            f"{start_code(plan, plan['runs'][1], check=False)}\nsecond = list(run)\n"
            'print("the first run\'s last event, by now:", first[-1])\n'
            'print("the second run\'s last event:", second[-1])\n'
        ),
        hint="Run the lines below: they print what each agent_end carries.",
    )
    (seen,) = play("runs", plays=[plan])
    whole = [*earlier, *one, *two]
    for run in seen["runs"]:
        check_run(expect, run)
        check_events(expect, run["events"])
        check_recorded(expect, run["events"], seen["record"], earlier)
    check_record(expect, seen["record"], whole)
    first, second = (last_messages(expect, run["events"]) for run in seen["runs"])
    grown = last_messages(expect, seen["runs"][0]["later"])
    whole_list = "callers-own-list" if equal(grown, whole) else "whole-list"
    expect.equal(
        first,
        one,
        apart("the list in the first run's agent_end", first, one),
        wrong={whole_list: [*earlier, *one]},
        hint="Which list does the yield of agent_end hand over, and what is on it?",
    )
    expect.equal(
        second,
        two,
        apart("the list in the second run's agent_end", second, two),
        wrong={"remembers": [*one, *two], whole_list: whole},
        hint="What this run has added is known only to this run: look at where that list is made.",
    )
    expect.equal(
        grown,
        one,
        "the list in the first run's agent_end has changed since it was handed over.",
        wrong={"callers-own-list": lambda now: isinstance(now, list) and len(now) > len(one)},
        hint="Hand over a list of its own, which nobody appends to afterwards.",
    )


def turn_and_answer(draw: Draw, spec: Data) -> list[Data]:
    """The four messages of a run with one tool call."""
    prompt, first, last = draw.texts(3)
    call = ask(draw, spec)
    reply, result = lab.reply(lab.text(first), call), lab.tool_result(call, spec["says"])
    return [lab.user(prompt), reply, result, lab.say(last)]


def last_messages(expect: Expect, events: Any) -> Any:
    """The messages of a run's agent_end."""
    last: Any = shown(events[-1]) if events else {}
    if kind_of(last) != "agent_end":
        count = len(events)
        _, _, diff = differing([*labels(events), Line("agent_end")], labels(events))
        expect.fail(
            f"the run ended after {count} event{'' if count == 1 else 's'}; agent_end was due next.",
            expected="agent_end, with the messages that the run has added",
            observed=line(last) if events else "no event at all",
            diff=diff,
            hint="After the loop, one more event goes out.",
        )
    if "messages" not in last:
        expect.fail(
            "the run's agent_end carries no 'messages'.",
            expected="agent_end, with the messages that the run has added",
            observed=line(last),
            hint=CARRIES["agent_end"],
        )
    return last["messages"]


# --- what events are made of ------------------------------------------------------------------------


def json_code(plan: Data) -> str:
    """Lines that have each event of a run written down."""
    listen = "for event in run:\n    print(event)\n    renderer.render(event)\n"
    return f"{code_of(plan)}renderer = harness.JsonRenderer()\n{listen}{SHOW}"


@rule("plain-data")
def test_events_are_json(play: Play, draw: Draw, expect: Expect) -> None:
    """Every event can be written as a line of JSON and read back the same."""
    spec = tool(draw)
    call, lost = ask(draw, spec), lab.call(draw.tool(), {"deep": [1, {"er": None}]}, id=draw.id())
    reply = lab.reply(lab.text(f'{draw.text()}\n"é中" {draw.word()}'), call, lost)
    results = [
        lab.tool_result(call, spec["says"]),
        lab.tool_result(lost, f"Tool {lost['name']} not found", is_error=True),
    ]
    ways = {
        "a run with two tool calls": story(
            draw.text(), (reply, results), (lab.say(draw.text()), [])
        ),
        "a run that fails": story(draw.text(), (lab.fail(failure(draw)), [])),
    }
    for given, wanted in ways.items():
        script = [message for message in wanted.added if message["role"] == "assistant"]
        plan = {**job(draw, script, [spec]), "runs": [order(wanted.added[0]["content"])]}
        play.case(
            given=f"{given}, written by {JSON}",
            replay=partial(json_code, plan),
            hint="Run the lines below: they print each event, and then what is written of it.",
        )
        seen = play("json_lines", play=plan)
        check_run(expect, seen)
        events = [each["event"] for each in seen["lines"]]
        check_events(expect, events)
        check_messages(expect, events, wanted)
        check_recorded(expect, events, seen["record"])
        check_calls(expect, seen["model_calls"], wanted)
        for number, written in enumerate(seen["lines"], 1):
            check_line(expect, number, written)
        expect.holds(
            bool(seen["lines"]),
            "the run gave no event at all, so there is nothing to write.",
            expected="a line for each event",
            observed="no event",
            hint="Is there a `yield` that is reached on this way through the loop?",
        )
        check_record(expect, seen["record"], wanted.added)


def check_line(expect: Expect, number: int, seen: Data) -> None:
    """An event and its line of JSON have to say the same."""
    event, raised, text = seen["event"], seen["raised"], seen["printed"]
    name = f"event {number}, {kind_of(event)},"
    odd = marks(event) or [f"a tuple at {place}" for place in seen["tuples"]]
    expect.holds(
        not odd,
        f"{name} holds {', '.join(odd)}; read back from JSON it would not be the same.",
        expected="plain data only",
        observed="\n".join(odd),
        wrong="not-plain",
        hint="Dicts, lists, strings, numbers, True, False and None: nothing else in an event.",
    )
    if raised is not None:
        words = f"{raised['type']}: {raised['text']}"
        expect.fail(
            f"{JSON} stumbled over {name} with {words}.",
            expected="an event of a kind from the list above the gap, with all that it carries",
            observed=line(event),
            hint=f"{JSON} writes the event, and looks into the message of a message_end.",
        )
    expect.holds(
        text.count("\n") == 1 and text.endswith("\n"),
        f"{JSON} did not write exactly one line for {name.rstrip(',')}.",
        expected="one line",
        observed=cut(text, 500) or "nothing",
        hint=f"{JSON} came with the starter: it prints json.dumps(event), and nothing else.",
        about=GIVEN,
    )
    expect.equal(
        read_back(text),
        event,
        f"{name} is not the same when its line is read back.",
        hint=f"{JSON} came with the starter: it prints json.dumps(event), and nothing else.",
        about=GIVEN,
    )


def marks(value: Any) -> list[str]:
    """What there is in a value that is no plain data, as words."""
    if isinstance(value, list):
        return [mark for item in value for mark in marks(item)]
    if not isinstance(value, dict):
        return []
    if NOT_PLAIN in value:
        return [str(value[NOT_PLAIN])]
    return [mark for item in value.values() for mark in marks(item)]


def read_back(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return f"(no JSON) {cut(text, 200)}"


@rule("the-loop-is-silent")
def test_loop_prints_nothing(play: Play, draw: Draw, expect: Expect) -> None:
    """The loop itself prints nothing, whichever way its run ends."""
    spec = tool(draw)
    call, lost, more = ask(draw, spec), ask(draw, {"name": draw.tool()}), ask(draw, spec)
    reply, again = lab.reply(lab.text(draw.text()), call, lost), lab.reply(more)
    results = [
        lab.tool_result(call, spec["says"]),
        lab.tool_result(lost, f"Tool {lost['name']} not found", is_error=True),
    ]
    failed = lab.fail(failure(draw), lab.text(draw.text()))
    ways: list[tuple[str, Story, int | None]] = [
        (
            "a run with tools",
            story(draw.text(), (reply, results), (lab.say(draw.text()), [])),
            None,
        ),
        (
            "a run that meets its limit",
            story(draw.text(), (again, [lab.tool_result(more, spec["says"])]), (stopped(1), [])),
            1,
        ),
        ("a run that fails", story(draw.text(), (failed, [])), None),
    ]
    for given, wanted, limit in ways:
        script = [m for m in wanted.added if m["role"] == "assistant" and m != stopped(1)]
        prompt = wanted.added[0]["content"]
        run, after = heard(play, given, job(draw, script, [spec]), prompt, limit, HUSH + SHOW)
        check_run(expect, run)
        expect.holds(
            not run["printed"],
            "the loop printed something while its run went on.",
            expected="nothing is printed",
            observed=cut(run["printed"], 500),
            wrong="still-prints",
            hint="Each of the six prints becomes a yield. What to draw is the frontend's to decide.",
        )
        check_recorded(expect, run["events"], after["record"])
        check_calls(expect, len(after["requests"]), wanted)
        if limit is not None and not equal(uncounted(after["record"]), wanted.added):
            check_limit(expect, len(after["requests"]), limit)
        check_record(expect, after["record"], wanted.added)


# --- the frontend for answer.txt --------------------------------------------------------------------


def fed(play: Play, given: str, *stories: Story, received: bool = False) -> list[Data]:
    """What a FinalTextRenderer for each of these runs did, all fed in turns.

    `received`: the events are made of strings of their own, as they are when they were read from JSON.
    """
    play.case(
        given=given,
        replay=lambda: feeding(stories, received=received),
        hint="Run the lines below: nothing may be printed above the line of dashes.",
    )
    feeds = [item.events for item in stories]
    seen: list[Data] = play("final_texts", feeds=feeds, received=received)
    return seen


def feeding(stories: Sequence[Story], *, received: bool) -> str:
    """Lines that feed a frontend, or two in turns, and then finish."""
    imports = (["json"] if received else []) + (["itertools"] if len(stories) > 1 else [])
    lines = [f"import {', '.join(imports)}\n"] if imports else []
    lines += ["import harness, lab\n", EVENTS]
    if any(calls(message) for each in stories for turn in each.said for message in turn[-1:]):
        lines.append('call = lab.call("read", {"path": "a.py"}, id="c1")')
    names = ["one", "other"] if len(stories) > 1 else ["run"]
    for name, each in zip(names, stories, strict=True):
        turns = [f"[{', '.join(map(said_code, turn))}]" for turn in each.said]
        lines.append(replay.listed(name, turns, "events(", ")"))
    wire = "json.loads(json.dumps(event))" if received else "event"
    if len(stories) == 1:
        lines += ["renderer = harness.FinalTextRenderer()", "for event in run:"]
        lines += [f"    renderer.render({wire})", _DASHES]
        return "\n".join([*lines, 'print("finish() returned", renderer.finish())', ""])
    lines.append("first, second = harness.FinalTextRenderer(), harness.FinalTextRenderer()")
    lines.append("for here, there in itertools.zip_longest(one, other):")
    lines += ["    if here: first.render(here)", "    if there: second.render(there)", _DASHES]
    lines += [f'print("finish() returned", {each}.finish())' for each in ("first", "second")]
    return "\n".join([*lines, ""])


def said_code(message: Data) -> str:
    """A message that a frontend is fed. Which tools it asks for is nothing to a frontend."""
    code = replay.message(message)
    for asked in calls(message) if message["role"] == "assistant" else ():
        code = code.replace(replay.message(lab.reply(asked))[len("lab.reply(") : -1], "call")
    return code


_DASHES = 'print("--- what stands above was printed by render(), what follows by finish()")'


def quoted(text: str) -> str:
    """What finish() printed, in a sentence."""
    return json.dumps(cut(text, 80), ensure_ascii=False) if text else "nothing"


def what_value(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, (bool, int)) else what_is(value)


def check_quiet(expect: Expect, seen: Data, wanted: Story) -> None:
    """Nothing may be printed while the run goes on."""
    expect.holds(
        not seen["made"],
        "something was printed when the renderer was made.",
        expected="nothing is printed before finish()",
        observed=cut(seen["made"], 500),
        hint="Nothing is to be printed before finish().",
        about=TEXT,
    )
    marks = labels(wanted.events)
    for number, (printed, mark) in enumerate(zip(seen["heard"], marks, strict=False), 1):
        expect.holds(
            not printed,
            f"render() printed something at event {number}, {mark}.",
            expected="nothing is printed before finish()",
            observed=f"render() printed {json.dumps(cut(printed, 300), ensure_ascii=False)}",
            wrong="prints-on-the-spot",
            hint="While the run goes on nobody knows which reply is the last. Keep it; print later.",
            about=f"{TEXT}.render",
        )


def check_answer(expect: Expect, seen: Data, wanted: Story, words: str, ideas: Ideas) -> None:
    """A run that went well: its last words and a newline on standard output, and True."""
    check_quiet(expect, seen, wanted)
    finish = f"{TEXT}.finish"
    expect.holds(
        not seen["err"],
        "finish() printed to standard error, and `> answer.txt` does not catch that.",
        expected=words,
        observed=f"on standard error: {quoted(seen['err'])}",
        wrong="to-standard-error",
        hint="A plain print() goes to standard output.",
        about=finish,
    )
    expect.equal(
        seen["out"],
        words + "\n",
        f"finish() printed {quoted(seen['out'])}, where the last reply's text and a newline are due.",
        wrong=ideas,
        hint="answer.txt holds one thing: what the last assistant message says, and a newline.",
        about=finish,
    )
    expect.equal(
        seen["value"],
        True,
        f"finish() printed the answer and returned {what_value(seen['value'])}, not True.",
        wrong={"finish-returns-none": None},
        hint="True says that the run went well; the shell script's exit status comes from it.",
        about=finish,
    )


def check_reason(expect: Expect, seen: Data, wanted: Story, reason: str, ideas: Ideas) -> None:
    """A run that failed: why, and False."""
    check_quiet(expect, seen, wanted)
    finish = f"{TEXT}.finish"
    expect.equal(
        seen["out"] + seen["err"],  # the page says what is printed, not on which of the two
        f"Error: {reason}\n",
        f"finish() printed {quoted(seen['out'] + seen['err'])}, where the reason is due.",
        wrong=ideas,
        hint="Look at the last assistant message: its stop_reason first, its text only after that.",
        about=finish,
    )
    expect.equal(
        seen["value"],
        False,
        f"finish() returned {what_value(seen['value'])}, not False, though the run had failed.",
        wrong={"always-true": True, "finish-returns-none": None},
        hint="False says that there is no answer, so that the shell script can exit non-zero.",
        about=finish,
    )


def said(wanted: Story) -> list[str]:
    """What the replies of a run say in words, one by one."""
    return [
        "".join(block["text"] for block in message["content"] if block["type"] == "text")
        for message in wanted.added
        if message["role"] == "assistant"
    ]


def keeps_first(words: list[str]) -> Callable[[Any], bool]:
    return lambda out: len(words) > 1 and out == words[0] + "\n"


def has_all(words: list[str]) -> Callable[[Any], bool]:
    return lambda out: len(words) > 1 and all(text in out for text in words)


def has_any(words: list[str]) -> Callable[[Any], bool]:
    return lambda out: any(text in out for text in words if text)


@rule("the-last-words-once")
def test_final_text_printed_once(play: Play, draw: Draw, expect: Expect) -> None:
    """The last reply's text is printed once, when the run is over, and finish() is True."""
    lines = f"  {draw.text()} \n{draw.text()}  "
    blocks = lab.reply(lab.text(f"  {draw.text()}\n"), lab.text(lines))
    ways: dict[str, list[Turn]] = {
        "an answer at once": [(lab.say(draw.text()), [])],
        "a run with three replies": [working(draw), working(draw), (lab.say(draw.text()), [])],
        "an answer of two blocks and three lines": [working(draw), (blocks, [])],
        "a run whose events were read from JSON": [working(draw), (lab.say(draw.text()), [])],
    }
    for given, turns in ways.items():
        wanted = story(draw.text(), *turns)
        words = said(wanted)
        (seen,) = fed(play, given, wanted, received="JSON" in given)
        ideas: Ideas = {"first-words-kept": keeps_first(words), "prints-everything": has_all(words)}
        check_answer(expect, seen, wanted, words[-1], ideas)


@rule("a-failed-run-says-why")
def test_failed_run_says_why(play: Play, draw: Draw, expect: Expect) -> None:
    """A run that failed or met its limit prints the reason in place of an answer, and is False."""
    broken_off = lab.fail(failure(draw), lab.text(draw.text()))
    ways: dict[str, list[Turn]] = {
        "a run that fails in its second turn": [working(draw), (lab.fail(failure(draw)), [])],
        "a run that meets max_turns": [working(draw), (stopped(draw.number(2, 9)), [])],
        "a last reply that broke off in the middle": [working(draw), (broken_off, [])],
        "a run that fails at once": [(lab.fail(failure(draw)), [])],
        "a run that fails, its events read from JSON": [
            working(draw),
            (lab.fail(failure(draw), lab.text(draw.text())), []),
        ],
    }
    for given, turns in ways.items():
        wanted = story(draw.text(), *turns)
        (seen,) = fed(play, given, wanted, received="JSON" in given)
        ideas: Ideas = {
            "last-words-kept": has_any(said(wanted)),
            "blank-answer": lambda out: out != "" and not out.strip(),
        }
        check_reason(expect, seen, wanted, turns[-1][0]["error_message"], ideas)


@rule("each-renderer-its-own-run")
def test_two_renderers_two_runs(play: Play, draw: Draw, expect: Expect) -> None:
    """Two renderers that are fed in turns each print the end of their own run."""
    reason = failure(draw)
    well = story(draw.text(), working(draw), (lab.say(draw.text()), []))
    better = story(draw.text(), working(draw), working(draw), (lab.say(draw.text()), []))
    badly = story(draw.text(), working(draw), (lab.fail(reason), []))
    for pair in ((well, better), (better, well), (well, badly), (badly, well)):
        both = fed(play, "two renderers, each with a run of its own, fed in turns", *pair)
        for wanted, other, seen in zip(pair, reversed(pair), both, strict=True):
            others = f"Error: {reason}" if other is badly else said(other)[-1]
            ideas: Ideas = {"shared-state": has_any([others])}
            if wanted is badly:
                check_reason(expect, seen, wanted, reason, ideas)
            else:
                check_answer(expect, seen, wanted, said(wanted)[-1], ideas)
