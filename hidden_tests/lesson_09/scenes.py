"""The scenes of lesson 9: somebody who speaks while a run goes on, and somebody who is asked.

Each writes down what happened and concludes nothing. What a tool does while it runs goes through the
same checks as everything else; since a harness turns what a tool raises into a result, whatever goes
wrong in there is kept and told once the run is over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lab

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.inside.actor import Actor

    Data = dict[str, Any]

MOST_EVENTS = 100  # a run that is still going on after that many is closed


class Model:
    """A scripted model, and each request as it was when it came."""

    def __init__(self, actor: Actor, replies: list[Data]) -> None:
        steps = [_dead_line(reply["raises"]) if "raises" in reply else reply for reply in replies]
        self._scripted = lab.ScriptedModel(steps)
        self.requests: list[Any] = []
        self._actor = actor

    def complete(self, system: Any, messages: Any, tools: Any) -> Any:
        """Answer one request, after it has been written down."""
        self.requests.append(self._actor.plain(messages))
        return self._scripted.complete(system, messages, tools)


def _dead_line(words: str) -> Callable[[Any], Any]:
    def answer(_: Any) -> Any:
        raise ConnectionError(words)

    return answer


# --- a Harness, and somebody at the keyboard -------------------------------------------------------


def sessions(actor: Actor, plays: list[Data], steps: list[Data]) -> list[Data]:
    """Build a Harness for each of `plays`, all in one process, and take the steps in their order.

    In a step "who" says whose it is; the first Harness's where it doesn't.
    """
    held = [Session(actor, play) for play in plays]
    for step in steps:
        held[step.get("who", 0)].step(step)
    return [session.seen() for session in held]


class Session:
    """One Harness, with its model and tools."""

    def __init__(self, actor: Actor, play: Data) -> None:
        self._actor = actor
        self._model = Model(actor, play["replies"])
        self._stumble: Exception | None = None
        self._given: Any = play.get("messages")
        self._ran: list[Any] = []
        self._ops: list[Data] = []
        self._steps: list[Data] = []
        more: Data = {} if self._given is None else {"messages": self._given}
        if play.get("max_turns") is not None:
            more["max_turns"] = play["max_turns"]
        tools = [tool(actor, spec, self._ran, self._typed) for spec in play["tools"]]
        self._harness = actor.call(
            "Harness(…)", actor.need("Harness"), self._model, actor.need("SYSTEM"), tools, **more
        )
        for name in play["needs"]:
            actor.attribute("Harness", self._harness, name)

    def seen(self) -> Data:
        """Everything that was written down."""
        return {
            "steps": self._steps,
            "ops": self._ops,
            "ran": self._ran,
            "requests": self._model.requests,
            "given": self._actor.plain(self._given),
        }

    def step(self, step: Data) -> None:
        """Do what a step says, and tell what went wrong inside a tool, if anything did."""
        if step["do"] == "run":
            self._steps.append(self._run(step))
        elif step["do"] == "append to the list given":
            self._given.append(lab.user(step["text"]))
            self._steps.append(self._now())
        elif step["do"] == "look":
            self._steps.append(self._now())
        else:
            self._op(step["do"], step["text"], "idle")
        if self._stumble is not None:
            raise self._stumble

    def _run(self, step: Data) -> Data:
        what = "h.prompt(…)"
        prompt = self._actor.attribute("Harness", self._harness, "prompt")
        run = self._actor.call(what, prompt, step["text"])
        seen: Data = {"called": self._now(), "events": [], "counts": []}
        after = step.get("after", {})
        self._typed(after.get("0", []), "before the first event")
        most = step.get("stop_after") or MOST_EVENTS
        events = (
            self._listen(what, run) if step.get("dies") else self._actor.events(what, run, most)
        )
        for event in events:
            seen["events"].append(self._actor.plain(event))
            seen["counts"].append(len(self._messages()))
            number = len(seen["events"])
            self._typed(after.get(str(number), []), f"after event {number}")
        seen["ended"] = len(seen["events"]) < MOST_EVENTS
        seen["printed"] = self._actor.printed()
        seen["model_calls"] = len(self._model.requests)
        return {**seen, **self._now()}

    def _listen(self, what: str, run: Any) -> Any:
        """The events of a run that may die on the way, which is for the next steps to look at."""
        taken: list[Any] = []
        for event in self._actor.events(what, run):
            yield event
            break
        while len(taken) < MOST_EVENTS:
            if self._actor.raised(what, lambda: taken.append(next(run))) is not None:
                return
            yield taken[-1]

    def _typed(self, ops: list[list[str]], when: str) -> None:
        try:
            for do, text in ops:
                self._op(do, text, when)
        except Exception as stumble:
            self._stumble = self._stumble or stumble
            raise

    def _op(self, do: str, text: str, when: str) -> None:
        """Call steer, follow_up or, a second time, prompt: what it gave, and what is around it."""
        before, gave, refused = self._now(), list[Any](), list[Any]()

        def speak() -> None:
            try:
                gave.append(getattr(self._harness, do)(text))
            except RuntimeError:
                refused.append(do)
                raise

        raised = self._actor.raised(f"h.{do}(…)", speak)
        now = self._now()
        if do == "prompt" and gave:
            later = self._actor.raised("next(h.prompt(…))", lambda: next(gave[0]))
        else:
            later = None
        self._ops.append(
            {
                "do": do,
                "text": text,
                "when": when,
                "raised": raised,
                "runtime_error": bool(refused),
                "returned": what_is(gave[0]) if gave else "None",
                "later": later,
                "before": before,
                "after": now,
            }
        )

    def _now(self) -> Data:
        messages = self._messages()
        running = self._actor.attribute("Harness", self._harness, "is_running")
        return {
            "record": self._actor.plain(messages),
            "is_tuple": issubclass(type(messages), tuple),
            "running": self._actor.plain(running),
        }

    def _messages(self) -> Any:
        messages = self._actor.attribute("Harness", self._harness, "messages")
        if not issubclass(type(messages), (list, tuple)):
            raise self._actor.wrong(f"h.messages is {what_is(messages)}, not a tuple of messages")
        return messages


def what_is(value: Any) -> str:
    """What a value is, for a sentence."""
    return "None" if value is None else f"a value of type {type(value).__name__}"


def tool(actor: Actor, spec: Data, ran: list[Any], typed: Any) -> Data:
    """A tool that notes its start and its end, and in between does what a user would do."""

    def execute(arguments: Any) -> str:
        ran.append([spec["name"], "began", actor.plain(arguments)])
        typed(spec.get("ops", []), f"while {spec['name']} ran")
        ran.append([spec["name"], "ended"])
        return str(spec["says"])

    return {
        "name": spec["name"],
        "description": "A tool.",
        "parameters": {"type": "object", "properties": {}},
        "execute": execute,
    }


# --- run_agent, and two callables that are asked ----------------------------------------------------


def run(actor: Actor, play: Data) -> Data:
    """Play one run of run_agent over a list of ours; each ask writes down the list as it is then."""
    messages: list[Any] = []
    asks: list[Data] = []
    ran: list[Any] = []
    model = Model(actor, play["replies"])
    tools = [tool(actor, spec, ran, lambda *_: None) for spec in play["tools"]]
    more: Data = {}
    if play.get("max_turns") is not None:
        more["max_turns"] = play["max_turns"]
    for name in ("get_steering", "get_follow_ups"):
        if name in play:
            more[name] = _asked(actor, name, play[name], messages, asks)
    run_agent, system = actor.need("run_agent"), actor.need("SYSTEM")
    what = "run_agent(…)"
    gave = actor.call(what, run_agent, model, system, messages, tools, play["prompt"], **more)
    events = [actor.plain(event) for event in actor.events(what, gave, MOST_EVENTS)]
    return {
        "events": events,
        "ended": len(events) < MOST_EVENTS,
        "asks": asks,
        "ran": ran,
        "record": actor.plain(messages),
        "requests": model.requests,
        "printed": actor.printed(),
    }


def _asked(
    actor: Actor, name: str, answers: list[list[str]], messages: list[Any], asks: list[Data]
) -> Callable[[], list[Data]]:
    """A function without arguments: its first answer to the first ask, and so on, then []."""
    left = list(answers)

    def get() -> list[Data]:
        asks.append({"who": name, "record": actor.plain(messages)})
        return [lab.user(text) for text in (left.pop(0) if left else [])]

    get.__name__ = get.__qualname__ = name
    return get
