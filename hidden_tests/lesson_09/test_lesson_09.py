"""The hidden tests of lesson 9: anybody may speak at any time, and the loop listens between turns.

How a session has to come out is written as turns: the words that open one, the reply, and what the
tools said. The record, the events and the requests all follow from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import lab

from grader.inside import replay
from grader.inside.compare import Line, equal
from grader.inside.testing import rule
from grader.inside.transcripts import (
    NO_TRANSCRIPT,
    apart,
    complaints,
    events_apart,
    labels,
    parted,
    shape,
    uncounted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.inside.testing import Draw, Expect, Play

    Message = dict[str, Any]
    Ideas = dict[str, Callable[[Any], bool]]

REFUSAL = "already running; use steer() or follow_up()"
EVENT_FIELDS = {
    "message_end": ["message"],
    "tool_execution_start": ["call"],
    "tool_execution_end": ["call", "result"],
    "turn_end": ["message"],
    "agent_end": ["messages"],
}
_RUN_IT = "Run the lines below: they print each event, and the record beside it."
ENOUGH = 100  # events; a run that goes on after so many is closed, by the scenes and the replays
_SHOWN = 14  # messages of a record that has no end
AGAIN = """\
def again(text):
    try:
        print("not refused:", h.prompt(text))
    except Exception as exc:
        print("refused:", repr(exc), "- record:", lab.shape(h.messages))
"""
SHOW = "print(lab.show({}, clip=200))"
# How the scenes write down what they saw.
RAISED = (None, {"type": str, "text": str, "line": (int, None)})
NOW = {"record": list, "is_tuple": bool, "running": object}
HEARD = {
    "called": NOW,
    "events": list,
    "counts": [int, ...],
    "ended": bool,
    "printed": str,
    "model_calls": int,
    **NOW,
}
DONE = {
    "do": str,
    "text": str,
    "when": str,
    "raised": RAISED,
    "runtime_error": bool,
    "returned": str,
    "later": RAISED,
    "before": NOW,
    "after": NOW,
}
RAN = [([str, "began", object], [str, "ended"]), ...]
WRITES = {"run": HEARD, "append to the list given": NOW, "look": NOW}
SHAPES: dict[str, Any] = {
    "sessions": lambda plays, steps: [
        {
            "steps": [
                WRITES[s["do"]] for s in steps if s.get("who", 0) == who and s["do"] in WRITES
            ],
            "ops": [DONE, ...],
            "ran": RAN,
            "requests": list,
            "given": object,
        }
        for who in range(len(plays))
    ],
    "run": lambda **_: {
        "events": list,
        "ended": bool,
        "asks": [{"who": str, "record": list}, ...],
        "ran": RAN,
        "record": list,
        "requests": list,
        "printed": str,
    },
}


# --- how a session has to come out -----------------------------------------------------------------


@dataclass(frozen=True)
class Turn:
    """One turn: the user's words that open it, the reply, and what the tools said, in call order."""

    words: list[str]
    reply: Message
    said: list[str] = field(default_factory=list)
    stopped: bool = False  # by max_turns: the reply is the harness's own, and no model was called

    def record(self) -> list[Message]:
        """What the turn adds to the record."""
        results = [lab.tool_result(c, s) for c, s in zip(calls(self.reply), self.said, strict=True)]
        return [*map(lab.user, self.words), self.reply, *results]


def stop(words: list[str], max_turns: int) -> Turn:
    """The turn in which a run meets its limit."""
    return Turn(words, lab.fail(f"Agent stopped after max_turns={max_turns}"), stopped=True)


def calls(reply: Message) -> list[Message]:
    return [block for block in reply["content"] if block["type"] == "toolCall"]


def record_of(turns: list[Turn]) -> list[Message]:
    return [message for turn in turns for message in turn.record()]


def replies_of(turns: list[Turn]) -> list[Message]:
    return [turn.reply for turn in turns if not turn.stopped]


def requests_of(turns: list[Turn]) -> list[list[Message]]:
    """What each model call has to be sent; a failed reply with nothing in it is sent to nobody."""
    requests, so_far = [], list[Any]()
    for turn in turns:
        if not turn.stopped:
            requests.append([*so_far, *map(lab.user, turn.words)])
        so_far += [m for m in turn.record() if m["role"] != "assistant" or m["content"]]
    return requests


def events_of(turns: list[Turn]) -> list[Message]:
    """The events of one run."""
    events: list[Message] = [{"type": "agent_start"}]
    for turn in turns:
        events.append({"type": "turn_start"})
        events += [announced(lab.user(words)) for words in turn.words]
        events.append(announced(turn.reply))
        for call, said in zip(calls(turn.reply), turn.said, strict=True):
            result = lab.tool_result(call, said)
            events += [{"type": "tool_execution_start", "call": call}, announced(result)]
            events.append({"type": "tool_execution_end", "call": call, "result": result})
        events.append({"type": "turn_end", "message": turn.reply})
    return [*events, {"type": "agent_end", "messages": record_of(turns)}]


def announced(message: Message) -> Message:
    return {"type": "message_end", "message": message}


# --- reading what was seen, whatever it is ----------------------------------------------------------


def facts(events: Any) -> Any:
    """Events without fields of their own: what each type of event has to carry, and no more."""
    return [fact(event) for event in events]


def fact(event: Any) -> Any:
    if not isinstance(event, dict) or "type" not in event:
        return event
    kind = event.get("type")
    kept = EVENT_FIELDS.get(kind, []) if isinstance(kind, str) else []
    return {"type": kind, **{key: uncounted(event[key]) for key in kept if key in event}}


def types(events: Any) -> list[Any]:
    return [event.get("type") if isinstance(event, dict) else event for event in events]


def users(record: Any) -> list[Any]:
    """The words of the user messages, in order."""
    found = record if isinstance(record, list) else []
    return [m.get("content") for m in found if isinstance(m, dict) and m.get("role") == "user"]


def shaped(*beginnings: str) -> Callable[[Any], bool]:
    """Tells a record whose shape begins in one of these ways."""
    return lambda record: shape(record).startswith(beginnings)


def spoken(*words: str) -> Callable[[Any], bool]:
    """Tells a record in which the user's words are just these, in this order."""
    return lambda record: users(record) == list(words)


def joined(*words: str) -> Callable[[Any], bool]:
    """Tells a record in which one user message holds all of these words."""
    return lambda record: any(
        isinstance(text, str) and all(w in text for w in words) for text in users(record)
    )


def together(one: str, other: str) -> Callable[[Any], bool]:
    """Tells a record in which one turn was opened by both of these words."""

    def tells(record: Any) -> bool:
        pairs = zip(users(record), users(record)[1:], strict=False)
        return "U U" in shape(record) and any(
            list(p) in ([one, other], [other, one]) for p in pairs
        )

    return tells


def missing(*words: str) -> Callable[[Any], bool]:
    """Tells a record in which none of these words were said, not even as part of others."""
    return lambda record: (
        shape(record) != NO_TRANSCRIPT
        and not any(word in str(text) for word in words for text in users(record))
    )


def after_failure(*words: str) -> Callable[[Any], bool]:
    """Tells a record in which some of these words were said after a reply that had failed."""

    def tells(record: Any) -> bool:
        found = record if isinstance(record, list) else []
        failures = [
            i
            for i, m in enumerate(found)
            if isinstance(m, dict) and m.get("stop_reason") == "error"
        ]
        return bool(failures) and any(text in words for text in users(found[failures[0] :]))

    return tells


def twice(words: str) -> Callable[[Any], bool]:
    """Tells a record in which these words were said more than once."""
    return lambda record: users(record).count(words) > 1


# --- what is played ---------------------------------------------------------------------------------


def tool(draw: Draw, *ops: tuple[str, str]) -> dict[str, Any]:
    """A tool that, while it runs, calls the methods named in `ops` with these words."""
    return {"name": draw.tool(), "says": draw.text(), "ops": [list(op) for op in ops]}


def asks_for(draw: Draw, tools: list[dict[str, Any]], first: int = 1) -> Message:
    """A reply that asks for each of the tools once; its calls are c1, c2, … or count on from `first`."""
    named = enumerate(tools, first)
    blocks = [lab.call(t["name"], {"path": draw.path()}, id=f"c{i}") for i, t in named]
    reply: Message = lab.reply(*blocks)
    return reply


def says(tools: list[dict[str, Any]]) -> list[str]:
    return [each["says"] for each in tools]


def prompt(text: str, **more: Any) -> dict[str, Any]:
    """A step: a run, listened to until its end unless it says otherwise."""
    return {"do": "run", "text": text, **more}


def session(
    turns: list[Turn], tools: list[dict[str, Any]], steps: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """A Harness whose model gives the replies of `turns`, and what is done with it, step by step."""
    return {"replies": replies_of(turns), "tools": tools, "steps": steps, **more}


def hold(play: Play, spec: dict[str, Any], given: str, hint: str = "") -> dict[str, Any]:
    """Play one session; what was seen is that of its last run, with all that was said on the way."""
    play.case(given=given, replay=lambda: session_code(spec), hint=hint or _RUN_IT)
    (seen,) = play("sessions", plays=[harness_of(spec)], steps=spec["steps"])
    return {**seen, **(seen["steps"][-1] if seen["steps"] else {})}


def harness_of(spec: dict[str, Any]) -> dict[str, Any]:
    done = {op[0] for each in spec["tools"] for op in each["ops"]}
    for step in spec["steps"]:
        done |= {op[0] for ops in step.get("after", {}).values() for op in ops} | {step["do"]}
    needs = [name for name in ("steer", "follow_up") if name in done]
    kept = {key: spec.get(key) for key in ("replies", "tools", "messages", "max_turns")}
    return {**kept, "needs": [*needs, "messages", "is_running"]}


# --- checking ---------------------------------------------------------------------------------------


def only_waits(expect: Expect, seen: dict[str, Any]) -> None:
    """No steer() or follow_up() may have raised or changed anything that can be seen."""
    for op in seen["ops"]:
        call, raised = f"h.{op['do']}(), called {when(op)},", op["raised"]
        if op["do"] == "prompt":
            continue
        if raised is not None:
            told = f"{raised['type']}: {raised['text']}"
            refused = raised["type"] == "RuntimeError" or "running" in raised["text"]
            moment = "idle" if op["when"] == "idle" else "running"
            expect.fail(
                f"{call} raised {told}.",
                expected="it takes the words and returns, whenever it is called",
                observed=f"{told} ({op['when']})",
                wrong=f"refused-while-{moment}" if refused else "",
                hint="It asks nothing and checks nothing: it puts a message on its queue.",
                about=f"Harness.{op['do']}",
            )
        expect.equal(
            uncounted(op["after"]["record"]),
            uncounted(op["before"]["record"]),
            f"{call} changed h.messages.",
            wrong={"appended-at-once": lambda record, op=op: op["text"] in users(record)},
            shown=changed(op, op["text"] in users(op["after"]["record"])),
            hint="Words that wait are on no record. They get there when the loop has asked for them.",
            about=f"Harness.{op['do']}",
        )
        expect.equal(
            op["after"]["running"],
            op["before"]["running"],
            f"{call} changed h.is_running.",
            hint="It only puts a message on its queue: it starts nothing and ends nothing.",
            about=f"Harness.{op['do']}",
        )


def when(op: dict[str, Any]) -> str:
    """When somebody spoke, as far as it matters: in a run, or not."""
    return "while nothing ran" if op["when"] == "idle" else "during a run"


def changed(op: dict[str, Any], appended: bool) -> tuple[list[Any], list[Any]] | None:
    """What h.messages had to stay, and what became of it: the part that tells."""
    words = [lab.user(op["text"])]
    return (words[:0] or [Line("(nothing new)")], words) if appended else None


def look(record: Any, wanted: list[Message]) -> str:
    """The next thing to look at where a record is not the one that is due."""
    at = parted(record, wanted)
    before = wanted[at - 1] if at else {}
    role = before.get("role")
    if not at:
        ask = "What happens in run_agent before its first turn?"
    elif role == "user":
        ask = "How many messages open a turn, and what comes between them and the model's reply?"
    elif role == "toolResult" or before.get("stop_reason") == "toolUse":
        ask = "Who is asked for words when the calls of a turn have been answered, and not before?"
    elif before.get("stop_reason") == "error":
        ask = "What does the loop do after a reply that has failed, and what is left for the next run?"
    else:
        ask = "What decides, after a reply without calls, who is asked and whether the run is over?"
    return ask


def comes_out(
    expect: Expect,
    seen: dict[str, Any],
    turns: list[Turn],
    wrong: Ideas,
    *,
    about: str = "run_agent",
) -> None:
    """The record, and what the model was sent on the way, have to be those of `turns`."""
    takes_a_turn(expect, seen, turns)
    record, wanted = uncounted(seen["record"]), record_of(turns)
    expect.equal(
        record,
        wanted,
        unheard(seen, turns) or came_out(record, wanted),
        wrong=wrong,
        hint=look(record, wanted),
        about=about,
        shown=only_users(record, wanted),
    )
    requests, due = uncounted(seen["requests"]), requests_of(turns)
    expect.equal(
        len(requests),
        len(due),
        f"the model was called {len(requests)} times, not {len(due)} times.",
        hint="The record came out right. Is the model asked once for each reply on it, and no more?",
        about=about,
    )
    for number, (request, sent) in enumerate(zip(requests, due, strict=False), 1):
        expect.equal(
            request,
            sent,
            f"model call {number} was sent {shape(request)}, not {shape(sent)}.",
            hint="A request is made from the record as it is at that moment, and from nothing else.",
            about=about,
        )


def takes_a_turn(expect: Expect, seen: dict[str, Any], turns: list[Turn]) -> None:
    """A run comes to its end, and leaves something on the record: it has had a turn."""
    comes_to_an_end(expect, seen, shape(record_of(turns)))
    expect.holds(
        seen["record"] != [] or not turns,
        "the run ended without a turn: nothing is on the record.",
        expected="at least the prompt and a reply",
        observed="(no messages)",
        wrong="no-turn",
        hint="Look at blank 1: when does the run need another turn?",
        about="run_agent",
    )


def unheard(seen: dict[str, Any], turns: list[Turn]) -> str:
    """A sentence where nothing that was said in one of the two ways ever got on the record."""
    due, heard = users(record_of(turns)), users(seen["record"])
    for do in ("steer", "follow_up"):
        said = [op["text"] for op in seen.get("ops", []) if op["do"] == do and op["text"] in due]
        if said and not any(text in str(words) for text in said for words in heard):
            return (
                f"what was said with h.{do}() is nowhere on the record: the loop never came for it."
            )
    return ""


def came_out(record: Any, wanted: list[Message]) -> str:
    """What is wrong with a record, as a sentence."""
    if sorted(map(str, users(record))) == sorted(users(wanted)) and shape(record) == shape(wanted):
        return "the user's words are all on the record, but not in the order that is due."
    if shape(record) == shape(wanted) or not record:
        return apart("the record", record, wanted)
    return f"the record came out as {shape(record)}, not as {shape(wanted)}: {apart('it', record, wanted)}"


def only_users(record: Any, wanted: list[Message]) -> tuple[Any, Any] | None:
    """The user's words alone, where only they stand in another order: replies don't follow them about."""
    if shape(record) != shape(wanted) or record == wanted:
        return None
    mine, due = ([m for m in each if m.get("role") == "user"] for each in (record, wanted))
    return (due, mine) if not equal(due, mine) else None


def comes_to_an_end(expect: Expect, seen: dict[str, Any], wanted: str) -> None:
    """A run that goes on and on was closed; what it was looks like can't be compared with anything."""
    record = seen["record"] if isinstance(seen["record"], list) else []
    said = [text for text in users(record) if users(record).count(text) > 3]
    if said:
        how = "the user's words come on the record again and again"
        ask = "What takes a message off its queue, once it has been handed over?"
    elif shape(record).endswith("A(error)"):
        how = "replies come, though nobody speaks and no call waits for its result"
        how += "; once its script is used up, the lab's model answers with A(error)"
        ask = "What makes each of the two loops go round once more, and when is that no longer so?"
    else:
        how = "nothing new comes on the record"
        ask = "What makes each of the two loops go round once more, and when is that no longer so?"
    expect.holds(
        seen["ended"],
        f"the run had not come to an end after {ENOUGH} events: {how}.",
        expected=f"the run ends, with {wanted} on the record",
        observed=f"it goes on, with {beginning(shape(record))} on the record",
        wrong="never-taken-off" if said else "never-ends",
        hint=ask,
        about="run_agent",
    )


def beginning(text: str) -> str:
    """The first messages of a shape."""
    parts = text.split(" ")
    return " ".join(parts if len(parts) <= _SHOWN else [*parts[:_SHOWN], "…"])


def is_told(expect: Expect, seen: dict[str, Any], turns: list[Turn], words: list[str]) -> None:
    """The events of a run have to be those of `turns`; `words` are the ones that the test is about."""
    events, wanted = facts(seen["events"]), events_of(turns)
    news = [announced(lab.user(text)) for text in words]
    expect.equal(
        types(events),
        types(wanted),
        events_apart(events, wanted, seen["record"]),
        wrong={
            "second-run": lambda kinds: kinds.count("agent_start") > 1,
            "not-announced": lambda _: not any(new in events for new in news),
            "announced-twice": lambda _: any(events.count(new) > 1 for new in news),
            "outside-a-turn": lambda kinds: any(
                between_turns(kinds, events.index(new)) for new in news if new in events
            ),
            "no-new-turn": lambda kinds: kinds.count("turn_start") < len(turns),
        },
        hint="Which line of the loop sends the event that is marked, or should send it?",
        about="run_agent",
        shown=(labels(wanted), labels(events)),
    )
    expect.equal(
        events[:-1],
        wanted[:-1],
        says_something_else(events, wanted, seen["record"]),
        wrong={
            "not-announced": lambda told: not any(new in told for new in news),
            "announced-twice": lambda told: any(told.count(new) > 1 for new in news),
        },
        hint="Which message does the line that sends it hand over?",
        about="run_agent",
    )
    last = next((event for event in events[-1:] if isinstance(event, dict)), {})
    expect.equal(
        last.get("messages"),
        wanted[-1]["messages"],
        apart(
            "the list that agent_end carries",
            last.get("messages"),
            wanted[-1]["messages"],
        ),
        wrong={
            "missing-from-agent-end": lambda told: (
                isinstance(told, list) and len(told) < len(wanted[-1]["messages"])
            ),
            "whole-record": lambda told: told == uncounted(seen["record"]),
        },
        hint="Which list does agent_end hand over, and what is put on it, and when?",
        about="run_agent",
    )


def says_something_else(events: Any, wanted: list[Message], record: Any) -> str:
    """Which event of the right kind carries something else than it should."""
    if labels(events) != labels(wanted):
        return events_apart(events, wanted, record)
    pairs = enumerate(zip(events, wanted, strict=True), 1)
    other = ((at, due["type"]) for at, (one, due) in pairs if not equal(one, due))
    at, kind = next(other, (0, "no event"))
    return f"event {at}, {kind}, carries something else than it should."


def between_turns(kinds: list[Any], at: int) -> bool:
    edges = [kind for kind in kinds[:at] if kind in ("turn_start", "turn_end", "agent_start")]
    return not edges or edges[-1] != "turn_start"


def recorded_first(expect: Expect, seen: dict[str, Any], before: int = 0) -> None:
    """At each event, the record holds just the messages that have been announced by then."""
    kinds = types(seen["events"])
    wanted = [before + kinds[: i + 1].count("message_end") for i in range(len(kinds))]
    at = next(
        (
            i
            for i, pair in enumerate(zip(seen["counts"], wanted, strict=False))
            if len(set(pair)) > 1
        ),
        0,
    )
    expect.holds(
        seen["counts"] == wanted,
        f"at event {at + 1} ({kinds[at] if kinds else 'none'}) the record has "
        f"{seen['counts'][at] if kinds else 0} messages, and {wanted[at] if kinds else 0} have been"
        " announced.",
        expected=f"number of messages on the record at each event: {wanted}",
        observed=f"{seen['counts']}",
        wrong="announced-first",
        hint="A message goes on the record first; the very next thing is its message_end.",
        about="run_agent",
    )


# --- code that shows it again -----------------------------------------------------------------------


def session_code(spec: dict[str, Any]) -> str:
    lines = ["from itertools import islice\n", "import harness, lab\n"]
    again = "prompt" in str([each["ops"] for each in spec["tools"]])
    lines += [*([AGAIN] if again else []), *tools_code(spec), *model_code(spec["replies"])]
    more = f", max_turns={spec['max_turns']}" if spec.get("max_turns") is not None else ""
    if spec.get("messages") is not None:
        lines.append(f"given = [{', '.join(map(replay.message, spec['messages']))}]")
        more += ", messages=given"
    lines.append(f"h = harness.Harness(model, harness.SYSTEM, tools{more})")
    for step in spec["steps"]:
        lines += step_code(step)
    if spec.get("messages") is not None:
        lines.append(
            'print("h.messages is", type(h.messages), "- the list given:", lab.shape(given))'
        )
    return "\n".join(map(replay.wrapped, [*lines, SHOW.format("h.messages")])) + "\n"


def step_code(step: dict[str, Any]) -> list[str]:
    text = replay.code(step["text"])
    if step["do"] == "append to the list given":
        return [f"given.append(lab.user({text}))"]
    if step["do"] == "look":
        return ['print("running:", h.is_running)']
    if step["do"] != "run":
        return ops_code([[step["do"], step["text"]]], "")
    after = step.get("after", {})
    lines = [f"run = h.prompt({text})", *ops_code(after.get("0", []), "")]
    heard = f"islice(run, {step.get('stop_after') or ENOUGH})"
    loop = [f"for number, event in enumerate({heard}, 1):"]
    loop.append('    print(number, event, "- record:", lab.shape(h.messages))')
    said = {number: ops for number, ops in after.items() if number != "0"}
    if len(said) > 1 and len(set(map(str, said.values()))) == 1:  # the same at each of them
        loop += ops_code(next(iter(said.values())), "    ")
    else:
        for number, ops in said.items():
            loop += [f"    if number == {number}:", *ops_code(ops, "        ")]
    if step.get("dies"):
        loop = ["try:", *(f"    {line}" for line in loop), "except ConnectionError as exc:"]
        loop.append('    print("the run died:", exc)')
    closing = ["run.close()"] if step.get("stop_after") else []
    return [*lines, *loop, *closing, 'print("running:", h.is_running)']


def ops_code(ops: list[list[str]], indent: str) -> list[str]:
    lines = []
    for do, text in ops:
        if do == "prompt":
            lines.append(f"again({replay.code(text)})")
        else:
            lines.append(f'print("h.{do}() returned", h.{do}({replay.code(text)}))')
    return [indent + line for line in lines]


def tools_code(spec: dict[str, Any]) -> list[str]:
    """A function for each tool that somebody speaks in, and the list of all tools."""
    tools = [each for each in spec["tools"] if each["name"] in str(spec["replies"])]
    if not tools:
        return ["tools = []"]
    lines, made = [replay.MAKE_TOOL], []
    if len(tools) > 2 and not any(each["ops"] for each in tools):
        names = ", ".join(replay.code(each["name"]) for each in tools)
        lines.append(f"names = [{names}]")
        return [*lines, 'tools = [tool(name, lambda arguments: "done") for name in names]']
    for each in tools:
        name, says = each["name"], replay.code(each["says"])
        if each["ops"]:
            lines += [
                f"def {name}(arguments):",
                *ops_code(each["ops"], "    "),
                f"    return {says}\n",
            ]
            made.append(f'tool("{name}", {name})')
        else:
            made.append(f'tool("{name}", lambda arguments: {says})')
    return [*lines, f"tools = [{', '.join(made)}]"]


def model_code(replies: list[Message]) -> list[str]:
    lines = []
    if dying := [reply["raises"] for reply in replies if "raises" in reply]:
        lines = ["def dies(request):", f"    raise ConnectionError({replay.code(dying[0])})\n"]
    script = ", ".join("dies" if "raises" in r else replay.message(r) for r in replies)
    return [*lines, f"model = lab.ScriptedModel([{script}])"]


def run_code(spec: dict[str, Any]) -> str:
    lines = ["from itertools import islice\n", "import harness, lab\n", *tools_code(spec)]
    lines += [*model_code(spec["replies"]), "messages = []"]
    asked = {name: spec[name] for name in ("get_steering", "get_follow_ups") if name in spec}
    if any(asked.values()):
        lines += ["", "def asked(name, answers):", "    def get():"]
        lines.append('        print(name, "is asked - record:", lab.shape(messages))')
        lines.append("        return list(map(lab.user, answers.pop(0) if answers else []))")
        lines += ["    return get", ""]
    more = "".join(
        f', {name}=asked("{name}", {replay.code(has)})' if any(asked.values()) else f", {name}=list"
        for name, has in asked.items()
    )
    if "max_turns" in spec:
        more += f", max_turns={spec['max_turns']}"
    given = f"model, harness.SYSTEM, messages, tools, {replay.code(spec['prompt'])}{more}"
    lines.append(f"run = harness.run_agent({given})")
    lines.append(f"for event in islice(run, {ENOUGH}):")
    lines.append('    print(event, "- record:", lab.shape(messages))')
    return "\n".join(map(replay.wrapped, [*lines, SHOW.format("messages")])) + "\n"


def run(play: Play, spec: dict[str, Any], given: str, hint: str = "") -> dict[str, Any]:
    """Play one run of run_agent over a list of our own."""
    play.case(given=given, replay=lambda: run_code(spec), hint=hint or _RUN_IT)
    seen: dict[str, Any] = play("run", play=spec)
    return seen


def asked(seen: dict[str, Any], name: str) -> list[Any]:
    """The record at each ask of that callable; an ask at the same moment as the last counts as one."""
    moments: list[Any] = []
    for ask in seen["asks"]:
        record = uncounted(ask["record"])
        if ask["who"] == name and (not moments or moments[-1] != record):
            moments.append(record)
    return moments


def asked_when(name: str, moments: list[str], due: list[str]) -> str:
    """The first difference in the moments at which a callable was asked; below it they are listed."""
    if not moments:
        return f"{name}() was never asked."
    at = parted(moments, due)
    if at == len(moments) == len(due):
        return ""
    below = "Each line is the record at one ask."
    if at == len(due):
        return f"{name}() was asked once too often, when the record was {moments[at]}. {below}"
    if at == len(moments):
        return f"{name}() was not asked again when the record was {due[at]}. {below}"
    return f"{name}() was asked when the record was {moments[at]}, and not when it was {due[at]}. {below}"


# --- speaking while a run goes on -------------------------------------------------------------------


@rule("words-wait-for-the-batch")
def test_speak_during_a_batch(play: Play, draw: Draw, expect: Expect) -> None:
    """What is said while a batch runs waits until the batch is answered."""
    p, s, f = draw.texts(3)
    steer, follow_up = ("steer", s), ("follow_up", f)
    for who, ops in ((0, (steer, follow_up)), (0, (follow_up, steer)), (1, (follow_up, steer))):
        tools = [tool(draw, *(ops if who == i else ())) for i in range(2)]
        batch = asks_for(draw, tools)
        turns = [Turn([p], batch, says(tools)), *(Turn([t], lab.say(draw.text())) for t in (s, f))]
        order = " and then ".join(f"h.{do}()" for do, _ in ops)
        seen = hold(
            play,
            session(turns, tools, [prompt(p)]),
            f"a batch of two calls, where the tool of c{who + 1} calls {order} while it runs",
        )
        only_waits(expect, seen)
        takes_a_turn(expect, seen, turns)
        expect.equal(
            [entry[:2] for entry in seen["ran"]],
            [[each["name"], at] for each in tools for at in ("began", "ended")],
            "the tools of the batch did not run from beginning to end, each of them once.",
            wrong={"tool-stopped": lambda ran: 0 < len(ran) < 4},
            hint="What has been started runs to its end. Words change what comes next.",
        )
        both = "U A[c1,c2] R(c1) R(c2)"
        steer_first = ops[0] == steer
        comes_out(
            expect,
            seen,
            turns,
            {
                "result-dropped": lambda record: (
                    shape(record).startswith("U A[c1,c2]")
                    and not all(result in shape(record) for result in ("R(c1)", "R(c2)"))
                ),
                "appended-at-once": shaped("U A[c1,c2] U", "U A[c1,c2] R(c1) U"),
                "everything-at-once": together(s, f),
                "joined": joined(s, f),
                "callables-swapped" if steer_first else "one-queue": spoken(p, f, s),
                "waits-for-the-end": shaped(f"{both} A"),
                "never-heard": missing(s, f),
            },
        )
        returns_nothing(expect, seen)
        expect.holds(
            seen["printed"] == "",
            "something was printed while the user spoke.",
            expected="nothing is printed",
            observed=seen["printed"],
            wrong="prints",
            hint="How things look is up to whoever listens to the events.",
        )
    idle = [{"do": do, "text": draw.text()} for do in ("steer", "follow_up")]
    seen = hold(play, session([], [], idle), "h.steer() and h.follow_up() while nothing runs")
    returns_nothing(expect, seen)


def returns_nothing(expect: Expect, seen: dict[str, Any]) -> None:
    for op in seen["ops"]:
        expect.equal(
            op["returned"],
            "None",
            f"h.{op['do']}(), called {when(op)}, returned {op['returned']}, not None.",
            wrong={"returns-something": lambda _: True},
            hint="There is nothing to hand back: nothing has happened yet.",
            about=f"Harness.{op['do']}",
        )


@rule("steer-opens-a-turn")
def test_steer_opens_next_turn(play: Play, draw: Draw, expect: Expect) -> None:
    """Steering opens the next turn, and each message is announced once."""
    for moment in ("while its tool runs", "after tool_execution_end", "after the final answer"):
        p, s = draw.texts(2)
        typed = [["steer", s]]
        tools = [tool(draw, *([("steer", s)] if moment.startswith("while") else []))]
        first, step = Turn([p], asks_for(draw, tools), says(tools)), prompt(p)
        if moment.endswith("end"):
            step["after"] = {"7": typed}
        if moment.endswith("answer"):
            first, step["after"] = Turn([p], lab.say(draw.text())), {"4": typed}
        turns = [first, Turn([s], lab.say(draw.text()))]
        job = "a job of one call" if first.said else "a job without calls"
        seen = hold(play, session(turns, tools, [step]), f"{job}, and h.steer() {moment}")
        only_waits(expect, seen)
        comes_out(
            expect,
            seen,
            turns,
            {
                "never-heard": missing(s),
                "said-twice": together(s, s),
                "outside-a-turn": told_early(seen, s),
            },
        )
        is_told(expect, seen, turns, [s])
        recorded_first(expect, seen)


def told_early(seen: dict[str, Any], words: str) -> Callable[[Any], bool]:
    """Tells whether the words were announced where no turn was open."""
    events, new = facts(seen["events"]), announced(lab.user(words))
    return lambda _: new in events and between_turns(types(events), events.index(new))


@rule("follow-up-continues-the-run")
def test_follow_up_opens_new_turn(play: Play, draw: Draw, expect: Expect) -> None:
    """A follow-up gets a turn inside the run that is going on."""
    for earlier in (False, True):
        p, f, p0 = draw.texts(3)
        turns = [Turn([p], lab.say(draw.text())), Turn([f], lab.say(draw.text()))]
        before = [Turn([p0], lab.say(draw.text()))] if earlier else []
        steps = [prompt(p0)] if earlier else []
        steps.append(prompt(p, after={"1": [["follow_up", f]]}))
        seen = hold(
            play,
            session([*before, *turns], [], steps),
            f"h.follow_up() during {'the second' if earlier else 'a'} run, which uses no tools",
        )
        only_waits(expect, seen)
        comes_out(
            expect,
            seen,
            [*before, *turns],
            {
                "never-heard": missing(f),
                "no-new-turn": lambda record: shape(record).endswith("A U"),
                "too-early": shaped("U A U U" if earlier else "U U"),
            },
        )
        is_told(expect, seen, turns, [f])


# --- when the loop asks -----------------------------------------------------------------------------


@rule("steering-asked-between-turns")
def test_steering_asked_only_when_valid(play: Play, draw: Draw, expect: Expect) -> None:
    """get_steering is asked between turns and never inside one."""
    p, one, two = draw.texts(3)
    tools = [tool(draw) for _ in range(draw.number(2, 3))]
    more = [tool(draw)]
    turns = [
        Turn([p], asks_for(draw, tools), says(tools)),
        Turn([one, two], asks_for(draw, more, len(tools) + 1), says(more)),
        Turn([], lab.say(draw.text())),
    ]
    spec = {
        "replies": replies_of(turns),
        "tools": [*tools, *more],
        "prompt": p,
        "get_steering": [[], [one, two]],
        "get_follow_ups": [],
    }
    seen = run(
        play,
        spec,
        "run_agent on a job of two batches, where get_steering() has nothing before the first turn "
        f"and two messages after the batch of {len(tools)}",
    )
    takes_a_turn(expect, seen, turns)
    moments = asked(seen, "get_steering")
    wanted = [record_of(turns[:count]) for count in range(4)]
    for number, moment in enumerate(moments, 1):
        found = complaints(moment)
        expect.holds(
            not found,
            f"get_steering() was asked when the record was {shape(moment)}, inside a batch.",
            expected="it is asked only where the record is valid:\n"
            + "\n".join(map(shape, wanted)),
            observed=f"ask {number}: {shape(moment)}: {'; '.join(found)}",
            wrong="asked-inside-a-batch",
            hint="A user message may open a turn and stand nowhere else, so don't ask anywhere else.",
        )
    shapes = [shape(record) for record in wanted]
    expect.equal(
        [shape(moment) for moment in moments],
        shapes,
        asked_when("get_steering", [shape(moment) for moment in moments], shapes),
        wrong={
            "never-asked": lambda asks: not asks,
            "prompt-recorded-first": lambda asks: asks[0] == "U",
            "not-asked-first": lambda asks: asks[0] != shape([]),
            "not-all-taken": lambda asks: len(asks) > 2 and asks[2].startswith(shapes[1] + " U A["),
            "asked-while-deciding": lambda asks: any(text.split()[-1] == "U" for text in asks),
            "only-after-calls": lambda asks: (
                asks == shapes[:-1] and uncounted(seen["record"]) == wanted[-1]
            ),
            "only-at-the-end": lambda asks: len(asks) > 1 and shapes[1] + " A[" in asks[1],
        },
        hint="Once before the first turn, and once after each, when all its calls are answered.",
        shown=(list(map(Line, shapes)), [Line(shape(moment)) for moment in moments]),
    )
    expect.equal(
        moments,
        wanted,
        "the record at an ask has the right shape, but not the right messages.",
        hint="The loop is handed user messages; they go on the record as they are, once each.",
    )
    comes_out(
        expect,
        seen,
        turns,
        {
            "not-all-taken": lambda record: (one in users(record)) != (two in users(record)),
            "never-heard": missing(one, two),
        },
    )


@rule("follow-ups-asked-at-the-end")
def test_follow_up_asked_at_the_end(play: Play, draw: Draw, expect: Expect) -> None:
    """get_follow_ups is asked when the run would end and no sooner."""
    p, f = draw.texts(2)
    tools = [tool(draw), tool(draw)]
    job = [
        Turn([p], asks_for(draw, tools[:1]), says(tools[:1])),
        Turn([], asks_for(draw, tools[1:], 2), says(tools[1:])),
        Turn([], lab.say(draw.text())),
    ]
    turns = [*job, Turn([f], lab.say(draw.text()))]
    ideas: Ideas = {
        "too-early": lambda record: "R(c2) A U" not in shape(record) and f in users(record),
        "never-heard": missing(f),
    }
    spec = {
        "replies": replies_of(turns),
        "tools": tools,
        "prompt": p,
        "get_steering": [],
        "get_follow_ups": [[f]],
    }
    seen = run(
        play,
        spec,
        "run_agent on a job of three turns, where get_follow_ups() has a message all along",
    )
    takes_a_turn(expect, seen, turns)
    moments, wanted = asked(seen, "get_follow_ups"), [record_of(job), record_of(turns)]
    shapes = [shape(record) for record in wanted]
    expect.equal(
        [shape(moment) for moment in moments],
        shapes,
        asked_when("get_follow_ups", [shape(moment) for moment in moments], shapes),
        wrong={
            "never-heard": lambda asks: not asks,
            "too-early": lambda asks: asks[0] != shapes[0],
            "asked-once": lambda asks: asks == shapes[:1],
        },
        hint="Ask where there are no calls to answer and no words are waiting: the run would end there.",
        shown=(list(map(Line, shapes)), [Line(shape(moment)) for moment in moments]),
    )
    expect.equal(
        moments,
        wanted,
        "the record at an ask has the right shape, but not the right messages.",
        hint="The loop is handed user messages; they go on the record as they are, once each.",
    )
    comes_out(expect, seen, turns, ideas)
    step = prompt(p, after={"1": [["follow_up", f]]})
    seen = hold(
        play,
        session(turns, tools, [step]),
        "h.follow_up() at the very start of a job of three turns",
    )
    only_waits(expect, seen)
    comes_out(expect, seen, turns, ideas, about="Harness._run")


@rule("one-message-an-ask")
def test_queued_messages_one_at_a_time(play: Play, draw: Draw, expect: Expect) -> None:
    """Queued messages get a turn each, the oldest first."""
    p, *words = draw.texts(draw.number(2, 3) + 1)
    tools = [tool(draw, ("steer", text)) for text in words]
    answers = [Turn([text], lab.say(draw.text())) for text in words]
    ideas: Ideas = {
        "joined": joined(*words),
        "newest-first": spoken(p, *reversed(words)),
        "all-at-once": lambda record: "U U" in shape(record) and spoken(p, *words)(record),
        "never-taken-off": lambda record: any(
            twice(text)(record) and not together(text, text)(record) for text in words
        ),
        "never-heard": missing(*words),
        "the-rest-lost": lambda record: record == record_of(turns[:2]),
    }
    turns = [Turn([p], asks_for(draw, tools), says(tools)), *answers]
    seen = hold(
        play,
        session(turns, tools, [prompt(p)]),
        f"a batch of {len(words)} calls, where each tool calls h.steer() once",
    )
    only_waits(expect, seen)
    comes_out(expect, seen, turns, ideas, about="Harness._drain")
    turns = [Turn([p], lab.say(draw.text())), *answers]
    step = prompt(p, after={"1": [["follow_up", text] for text in words]})
    seen = hold(
        play,
        session(turns, [], [step]),
        f"h.follow_up() called {'twice' if len(words) == 2 else 'three times'} in a run without tools",
    )
    only_waits(expect, seen)
    # Steering came out in its order, and both kinds are drained alike: then it is where words are put.
    put = ideas["newest-first"](seen["record"])
    comes_out(expect, seen, turns, ideas, about="Harness.follow_up" if put else "Harness._drain")
    again = draw.text()
    turns = [Turn([text], lab.say(draw.text())) for text in (p, again, again)]
    step = prompt(p, after={"1": [["follow_up", again]] * 2})
    seen = hold(play, session(turns, [], [step]), "h.follow_up() called twice with the same words")
    comes_out(expect, seen, turns, {"the-rest-lost": spoken(p, again)}, about="Harness.follow_up")


# --- the queues belong to the harness ---------------------------------------------------------------


@rule("queues-outlive-runs")
def test_queued_while_idle(play: Play, draw: Draw, expect: Expect) -> None:
    """What is said while nothing runs is heard in the next run."""
    p, s, s2, f, p0 = draw.texts(5)
    steer, follow = {"do": "steer", "text": s}, {"do": "follow_up", "text": f}
    both = draw.choice([[steer, follow], [follow, steer]])  # the last session has them turned round
    a, b, c = (lab.say(draw.text()) for _ in range(3))
    sessions = {
        "h.steer() and h.follow_up() while nothing runs, then a prompt": (
            [*both, prompt(p)],
            [Turn([p, s], a), Turn([f], b)],
        ),
        "h.steer() twice while nothing runs, then a prompt": (
            [steer, {"do": "steer", "text": s2}, prompt(p)],
            [Turn([p, s], a), Turn([s2], b)],
        ),
        "h.steer() and h.follow_up() after a first run, then a second prompt": (
            [prompt(p0), *reversed(both), prompt(p)],
            [Turn([p0], a), Turn([p, s], b), Turn([f], c)],
        ),
    }
    said: list[str] = []  # in the session that is being played
    ideas: Ideas = {
        "steer-before-prompt": lambda record: comes_before(s, p, record),
        "dropped-with-the-run": lambda record: (
            not shape(record).endswith("(error)")
            and ((s in said and missing(s, s2)(record)) or (f in said and missing(f)(record)))
        ),
        "all-at-once": lambda record: "U U U" in shape(record),
        "newest-first": lambda record: comes_before(s2, s, record),
        "one-queue": lambda record: comes_before(f, s, record),
        "waits-a-turn": lambda record: "U U" not in shape(record) and s in users(record),
    }
    hint = "The queues are the harness's: no run makes them, and no run clears them."
    for given, (steps, turns) in sessions.items():
        said[:] = [step["text"] for step in steps if step["do"] != "run"]
        seen = hold(play, session(turns, [], steps), given, hint)
        only_waits(expect, seen)
        comes_out(expect, seen, turns, ideas)
    said[:] = [s]
    step = prompt(p0, stop_after=3, after={"3": [["steer", s]]})
    seen = hold(
        play,
        {"replies": [a], "tools": [], "steps": [step, prompt(p)]},
        "h.steer() during a run that is closed before the model is asked, then a second prompt",
        hint,
    )
    only_waits(expect, seen)
    record, wanted = uncounted(seen["record"]), [*map(lab.user, (p0, p, s)), a]
    expect.equal(
        record,
        wanted,
        came_out(record, wanted),
        wrong=ideas,
        hint=look(record, wanted),
        about="Harness",
    )


def comes_before(one: str, other: str, record: Any) -> bool:
    words = users(record)
    return one in words and other in words and words.index(one) < words.index(other)


@rule("steering-first")
def test_steers_before_follow_up(play: Play, draw: Draw, expect: Expect) -> None:
    """A follow-up waits until no steering is left."""
    p, s1, s2, f = draw.texts(4)
    steers = [("steer", s1), ("steer", s2)]
    for ops in ([("follow_up", f), *steers], [*steers, ("follow_up", f)]):
        tools = [tool(draw, *ops)]
        turns = [
            Turn([p], asks_for(draw, tools), says(tools)),
            *(Turn([text], lab.say(draw.text())) for text in (s1, s2, f)),
        ]
        order = ", ".join(f"h.{do}()" for do, _ in ops)
        seen = hold(play, session(turns, tools, [prompt(p)]), f"one tool that calls {order}")
        only_waits(expect, seen)
        comes_out(
            expect,
            seen,
            turns,
            {
                "never-heard": missing(s1, s2, f),
                "all-at-once": lambda record: (
                    "U U" in shape(record) and spoken(p, s1, s2, f)(record)
                ),
                "follow-up-jumps-in": lambda record: comes_before(f, s2, record),
                "newest-first": spoken(p, s2, s1, f),
            },
        )


# --- one run at a time ------------------------------------------------------------------------------


@rule("one-run-at-a-time")
def test_prompt_refused_while_running(play: Play, draw: Draw, expect: Expect) -> None:
    """A second prompt is refused, says what to do instead, and leaves no trace."""
    p, x, p2 = draw.texts(3)
    tools = [tool(draw, ("prompt", x))]
    job = [Turn([p], asks_for(draw, tools), says(tools)), Turn([], lab.say(draw.text()))]
    turns = [*job, Turn([p2], lab.say(draw.text()))]
    moments = {str(number): [["prompt", x]] for number in range(len(events_of(job)) + 1)}
    steps = [prompt(p, after=moments)]
    # Alone first: where a refused prompt is queued or starts a run, the next one may not come through.
    seen = hold(
        play, session(turns, tools, steps), "a job of one call, and h.prompt() at each moment"
    )
    expect.equal(
        seen["called"]["running"],
        True,
        "h.is_running is not True right after h.prompt() was called.",
        wrong={"flag-late": lambda running: running is False},
        hint="Put the flag up in prompt() itself: its events may be asked for much later.",
        about="Harness.prompt",
    )
    for op in seen["ops"]:
        is_refused(expect, op, seen)
    queued: Ideas = {"queued-instead": lambda record: x in users(record)}
    comes_out(expect, seen, job, queued, about="Harness.prompt")
    spec = session(turns, tools, [*steps, prompt(p2)])
    seen = hold(
        play, spec, "a job of one call with h.prompt() at each moment, and then a new prompt"
    )
    comes_out(expect, seen, turns, queued, about="Harness.prompt")
    flag_falls(play, draw, expect)
    snapshots(play, draw, expect)


def is_refused(expect: Expect, op: dict[str, Any], seen: dict[str, Any]) -> None:
    """A prompt while a run went on: RuntimeError, these words, at once, and no trace of it."""
    where, raised, later = op["when"], op["raised"], op["later"]
    if raised is None:
        late = later is not None and later["text"].startswith("already running")
        queued = op["text"] in users(seen["record"]) or op["returned"] == "None"
        then = f", and next() on that raised {later['type']}: {later['text']}" if later else ""
        expect.fail(
            f"h.prompt(), called {where}, was not refused.",
            expected=f"RuntimeError: {REFUSAL}",
            observed=f"it returned {op['returned']}{then}",
            wrong="refused-late" if late else "queued-instead" if queued else "both-accepted",
            hint="The refusal belongs on the caller's line: prompt() is a plain function that checks,"
            " and the generator is another one.",
            about="Harness.prompt",
        )
    expect.holds(
        op["runtime_error"],
        f"h.prompt(), called {where}, raised {raised['type']}, not RuntimeError.",
        expected=f"RuntimeError: {REFUSAL}",
        observed=f"{raised['type']}: {raised['text']}",
        wrong="another-exception" if "already running" in raised["text"] else "",
        hint="Whoever calls prompt() looks for a RuntimeError, and for no other type.",
        about="Harness.prompt",
    )
    expect.equal(
        raised["text"],
        REFUSAL,
        f"h.prompt(), called {where}, was refused in other words than the lesson's.",
        wrong={"old-refusal": "already running"},
        hint="The exact words are in the class's docstring; they name what can be done instead.",
        about="Harness.prompt",
    )
    expect.equal(
        uncounted(op["after"]["record"]),
        uncounted(op["before"]["record"]),
        f"h.prompt(), called {where}, was refused and changed h.messages all the same.",
        wrong={"recorded-instead": lambda record: op["text"] in users(record)},
        hint="Check first; only then do anything.",
        about="Harness.prompt",
    )
    expect.equal(
        op["after"]["running"],
        True,
        f"h.is_running is not True any more after h.prompt() was refused ({where}).",
        wrong={"flag-dropped": lambda running: running is False},
        hint="The run that was there before goes on, so the flag stays up.",
        about="Harness.prompt",
    )


def flag_falls(play: Play, draw: Draw, expect: Expect) -> None:
    """Before the first run, and after one that is exhausted, closed or dead, no run is going on.

    The next prompt is answered then.
    """
    p, p2 = draw.texts(2)
    spec = {"replies": [], "tools": [], "steps": [{"do": "look", "text": ""}]}
    expect.equal(
        hold(play, spec, "a Harness that has just been made")["running"],
        False,
        "h.is_running is not False before anything has run.",
        hint="It is True or False, from the start: look at what __init__ sets.",
        about="Harness.__init__",
    )
    answer, last = (lab.say(draw.text()) for _ in range(2))
    endings = {
        "is listened to until its end": (prompt(p), answer),
        "is closed": (prompt(p, stop_after=4), answer),
        "dies of a lost connection": (prompt(p, dies=True), {"raises": draw.text()}),
    }
    for ending, (step, first) in endings.items():
        spec = {"replies": [first, last], "tools": [], "steps": [step]}
        expect.equal(
            hold(play, spec, f"a run that {ending}")["running"],
            False,
            "h.is_running is not False afterwards.",
            wrong={"flag-stays": lambda running: running is True},
            hint="A `finally` in the generator is reached on every way out of it.",
            about="Harness._run",
        )
        spec["steps"] = [step, prompt(p2)]
        record = uncounted(hold(play, spec, f"a run that {ending}, then a second prompt")["record"])
        expect.equal(
            record[-2:],
            [lab.user(p2), last],
            f"the second prompt was not answered; the record is {shape(record)}.",
            hint="What is kept on the harness from one run to the next, and what should not be?",
            about="Harness._run",
        )


def snapshots(play: Play, draw: Draw, expect: Expect) -> None:
    """h.messages is a tuple, and the list that a Harness is given is copied."""
    given, p, x = [lab.user(draw.text()), lab.say(draw.text())], draw.text(), draw.text()
    answer = lab.say(draw.text())
    steps = [prompt(p), {"do": "append to the list given", "text": x}]
    spec = {"replies": [answer], "tools": [], "steps": steps, "messages": given}
    seen = hold(play, spec, "Harness(messages=[…]), a run, and something appended to that list")
    expect.holds(
        seen["is_tuple"],
        "h.messages is a list, not a tuple.",
        expected="a tuple: a snapshot that nobody can append to",
        observed="a list",
        wrong="live-list",
        hint="tuple(…) around the list, each time somebody asks.",
        about="Harness.messages",
    )
    expect.equal(
        uncounted(seen["given"]),
        [*given, lab.user(x)],
        "the run wrote into the list that the Harness was given.",
        wrong={"list-shared": lambda record: p in users(record)},
        hint="Harness(messages=…) starts from a copy.",
        about="Harness.__init__",
    )
    expect.equal(
        uncounted(seen["record"]),
        [*given, lab.user(p), answer],
        "h.messages is not what was given and what was said.",
        wrong={"list-shared": lambda record: x in users(record)},
        hint="Harness(messages=…) starts from a copy.",
        about="Harness.__init__",
    )


# --- runs that fail, and runs without words ---------------------------------------------------------


@rule("failed-run-asks-nobody")
def test_failed_run_leaves_queue(play: Play, draw: Draw, expect: Expect) -> None:
    """A run that fails asks nobody, and what waits is there for the next run."""
    p, s, f, p2 = draw.texts(4)
    for cut, how in ([], "fails"), ([lab.text(draw.text())], "breaks off in the middle"):
        turns = [
            Turn([p], lab.fail(f"503 overloaded: {draw.word()}", *cut)),
            Turn([p2, s], lab.say(draw.text())),
            Turn([f], lab.say(draw.text())),
        ]
        step = prompt(p, after={"4": [["steer", s], ["follow_up", f]]})
        leaves_queue(
            play,
            expect,
            session(turns, [], [step, prompt(p2)]),
            turns,
            1,
            f"h.steer() and h.follow_up() during a run whose model call {how}, then a second prompt",
        )
    tools = [tool(draw, ("follow_up", f)), tool(draw)]
    turns = [
        Turn([p], asks_for(draw, tools[:1]), says(tools[:1])),
        Turn([], asks_for(draw, tools[1:], 2), says(tools[1:])),
        stop([], 2),
        Turn([p2], lab.say(draw.text())),
        Turn([f], lab.say(draw.text())),
    ]
    leaves_queue(
        play,
        expect,
        session(turns, tools, [prompt(p), prompt(p2)], max_turns=2),
        turns,
        3,
        "h.follow_up() during a run that max_turns=2 stops, then a second prompt",
    )
    asks_nobody(play, draw, expect)


def leaves_queue(
    play: Play,
    expect: Expect,
    spec: dict[str, Any],
    turns: list[Turn],
    failed: int,
    given: str,
) -> None:
    """The first `failed` turns are the run that fails; what was said in it comes after the prompt."""
    seen = hold(play, spec, given)
    only_waits(expect, seen)
    words = [text for turn in turns[failed:] for text in turn.words][1:]
    comes_out(
        expect,
        first_run(seen),
        turns[:failed],
        {"asked-after-failure": after_failure(*words)},
    )
    comes_out(
        expect,
        seen,
        turns,
        {
            "queue-emptied": lambda record: (
                not shape(record).endswith("(error)") and any(missing(t)(record) for t in words)
            )
        },
    )


def first_run(seen: dict[str, Any]) -> dict[str, Any]:
    """What was seen of the first run of a session, its own model calls among it."""
    first: dict[str, Any] = seen["steps"][0]
    return {**seen, **first, "requests": seen["requests"][: first["model_calls"]]}


def asks_nobody(play: Play, draw: Draw, expect: Expect) -> None:
    """After the reply that failed, or the stop, neither callable is asked."""
    p, f = draw.texts(2)
    tools = [tool(draw)]
    first = Turn([p], asks_for(draw, tools), says(tools))
    for how, last in (("fails", Turn([], lab.fail(draw.text()))), ("is stopped", stop([], 1))):
        turns = [first, last]
        spec = {
            "replies": replies_of(turns),
            "tools": tools,
            "prompt": p,
            "get_steering": [],
            "get_follow_ups": [[f], [f], [f]],
            **({"max_turns": 1} if last.stopped else {}),
        }
        seen = run(
            play, spec, f"run_agent, where the second turn {how} and get_follow_ups() has a message"
        )
        expect.equal(
            [f"{ask['who']}: {shape(uncounted(ask['record']))}" for ask in seen["asks"]][-1:],
            [f"get_steering: {shape(first.record())}"],
            "the last ask was another than the one after the first turn.",
            wrong={"asked-after-failure": lambda asks: any("(error)" in ask for ask in asks)},
            hint="A run that has failed is over: what would be taken now would not be answered.",
        )
        comes_out(expect, seen, turns, {"asked-after-failure": after_failure(f)})


@rule("limit-asks-nobody")
def test_max_turns_keeps_second_steer(play: Play, draw: Draw, expect: Expect) -> None:
    """At max_turns one steer is recorded, no call is made, and the other waits."""
    p, s1, s2, p2, f = draw.texts(5)
    tools = [tool(draw, ("steer", s1), ("steer", s2))]
    turns = [
        Turn([p], asks_for(draw, tools), says(tools)),
        stop([s1], 1),
        Turn([p2, s2], lab.say(draw.text())),
    ]
    spec = session(turns, tools, [prompt(p), prompt(p2)], max_turns=1)
    seen = hold(
        play, spec, "max_turns=1 and a tool that calls h.steer() twice, then a second prompt"
    )
    only_waits(expect, seen)
    comes_out(
        expect,
        first_run(seen),
        turns[:2],
        {
            "asked-after-the-stop": after_failure(s2),
            "words-lost": lambda record: (
                shape(record) == "U A[c1] R(c1) A(error)" and missing(s1)(seen["record"])
            ),
            "one-call-too-many": lambda _: seen["steps"][0]["model_calls"] > 1,
        },
    )
    lost: Ideas = {"queue-emptied": lambda record: missing(s2)(record) and not twice(s1)(record)}
    comes_out(expect, seen, turns, lost)
    turns = [Turn([p], lab.say(draw.text())), stop([f], 1)]
    spec = session(turns, [], [prompt(p, after={"3": [["follow_up", f]]})], max_turns=1)
    spec["replies"].append(lab.say(draw.text()))
    seen = hold(play, spec, "max_turns=1 and h.follow_up() during a run without tools")
    only_waits(expect, seen)
    comes_out(
        expect,
        seen,
        turns,
        {
            "counted-anew": lambda record: shape(record) == "U A U A",
            "words-lost": lambda record: shape(record) == "U A A(error)",
        },
    )


@rule("silence-changes-nothing")
def test_silent_callables_change_nothing(play: Play, draw: Draw, expect: Expect) -> None:
    """Where nobody has anything to say, a run is what it was in lesson 8."""
    tools = [tool(draw) for _ in range(draw.number(2, 3))]
    p = draw.text()
    batch = Turn([p], asks_for(draw, tools), says(tools))
    jobs: dict[str, tuple[list[Turn], int | None]] = {
        "a job without calls": ([Turn([p], lab.say(draw.text()))], None),
        f"a batch of {len(tools)} calls": ([batch, Turn([], lab.say(draw.text()))], None),
        "a job that max_turns=1 stops": ([batch, stop([], 1)], 1),
        "a job whose second model call fails": ([batch, Turn([], lab.fail(draw.text()))], None),
    }
    silent: dict[str, dict[str, Any]] = {
        "neither callable": {},
        "callables that always have []": {"get_steering": [], "get_follow_ups": []},
    }
    for job, (turns, limit) in jobs.items():
        for who, passed in silent.items():
            spec = {"replies": replies_of(turns), "tools": tools, "prompt": p, **passed}
            if limit is not None:
                spec["max_turns"] = limit
            seen = run(play, spec, f"{job}, and run_agent with {who}")
            takes_a_turn(expect, seen, turns)
            comes_out(expect, seen, turns, {"empty-turn": lambda record: "A A" in shape(record)})
            is_told(expect, seen, turns, [])
            expect.holds(
                seen["printed"] == "",
                "the loop printed something.",
                expected="nothing is printed",
                observed=seen["printed"],
                wrong="prints",
                hint="How things look is up to whoever listens to the events.",
            )
    nobody_elses_words(play, draw, expect)


def nobody_elses_words(play: Play, draw: Draw, expect: Expect) -> None:
    """What is said to one Harness is not heard by another."""
    p, s, f = draw.texts(3)
    turns = [Turn([p], lab.say(draw.text()))]
    other = session([], [], [{"do": "steer", "text": s}, {"do": "follow_up", "text": f}])
    spec = session(turns, [], [prompt(p)])
    words = "\n".join(f"other.{step['do']}({replay.code(step['text'])})" for step in other["steps"])
    made = "other = harness.Harness(model, harness.SYSTEM, [])\nh = harness"
    play.case(
        given="two Harnesses, of which the first is spoken to and the second is prompted",
        replay=lambda: (
            session_code(spec)
            .replace("h = harness", made, 1)
            .replace("run = h.prompt", f"{words}\nrun = h.prompt", 1)
        ),
        hint="A queue is made in __init__, for each Harness its own.",
    )
    plays = [harness_of(other), harness_of(spec)]
    seen = play("sessions", plays=plays, steps=[*other["steps"], {**prompt(p), "who": 1}])[1]
    comes_out(
        expect,
        {**seen, **seen["steps"][-1]},
        turns,
        {"shared-queues": lambda record: bool({s, f} & set(map(str, users(record))))},
        about="Harness.__init__",
    )
