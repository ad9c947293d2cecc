"""The scenes of lesson 7: runs that are listened to, runs that are left, and frontends that are fed.

Each writes down what happened and concludes nothing.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import time
from typing import TYPE_CHECKING, Any

import lab

if TYPE_CHECKING:
    from grader.inside.actor import Actor

    Data = dict[str, Any]

LOOP = "run_agent(…)"
_DRAWING_S = 0.005  # what a slow frontend takes; whatever runs ahead gets that long to do it


# --- runs -------------------------------------------------------------------------------------------


def runs(actor: Actor, plays: list[Data]) -> list[Data]:
    """Listen to runs until they end. The runs of one play share a model and the caller's list."""
    return [_play(actor, play) for play in plays]


def _play(actor: Actor, play: Data) -> Data:
    job = _job(actor, play)
    heard = [_listen(actor, job, order) for order in play["runs"]]
    return {
        # What is in the events now, after everything: nobody may have changed what was handed over.
        "runs": [{**seen, "later": actor.plain(events)} for seen, events in heard],
        "record": actor.plain(job["messages"]),
        "ran": job["ran"],
        "requests": [_request(actor, request) for request in job["calls"]],
    }


def _request(actor: Actor, request: Any) -> Data:
    return {
        name: actor.plain(actor.attribute("a request", request, name))
        for name in ("system", "messages")
    }


def _listen(actor: Actor, job: Data, order: Data) -> tuple[Data, list[Any]]:
    actor.printed()
    run = _start(actor, job, order)
    seen: Data = {
        "is_run": _is_run(run),
        "returned": None if _is_run(run) else actor.plain(run),
        "before": {"calls": len(job["calls"]), "record": actor.plain(job["messages"])},
        "events": [],
        "records": [],
    }
    events: list[Any] = []
    if seen["is_run"]:
        for event in actor.events(LOOP, run, order["most"]):
            events.append(event)
            seen["events"].append(actor.plain(event))
            seen["records"].append(actor.plain(job["messages"]))
    return {**seen, "printed": actor.printed()}, events


def stops(actor: Actor, play: Data, after: list[int | None]) -> list[Data]:
    """One job again and again: close the run after so many events. None hears it out."""
    return [_leave(actor, _job(actor, play), play["runs"][0], count) for count in after]


def _leave(actor: Actor, job: Data, order: Data, count: int | None) -> Data:
    run = _start(actor, job, order)
    if not _is_run(run):
        return {"is_run": False, "returned": actor.plain(run)}
    most = order["most"] if count is None else count
    events = [actor.plain(e) for e in itertools.islice(actor.events(LOOP, run), most)]
    time.sleep(_DRAWING_S)
    left = _standing(actor, job)
    closable = hasattr(type(run), "close")
    closing = (
        actor.raised("close() on the run", run.close) if closable and count is not None else None
    )
    return {
        "is_run": True,
        "returned": None,
        "events": events,
        "left": left,
        "closable": closable,
        "closing": closing,
        "after": _standing(actor, job),
    }


def _standing(actor: Actor, job: Data) -> Data:
    return {"record": actor.plain(job["messages"]), "ran": len(job["ran"])}


def _job(actor: Actor, play: Data) -> Data:
    ran: list[Any] = []
    script = _received(play["script"]) if play["received"] else play["script"]
    model = lab.ScriptedModel([_step(step) for step in script])
    return {
        "model": model,
        "calls": model.calls,
        "system": play["system"],
        "messages": list(play["messages"]),
        "tools": [_tool(actor, spec, ran) for spec in play["tools"]],
        "ran": ran,
    }


def _received(value: Any) -> Any:
    """Equal data, as it is when it has come over a wire: no string is one that somebody else has too."""
    return json.loads(json.dumps(value))


def _start(actor: Actor, job: Data, order: Data) -> Any:
    limit = {} if order["max_turns"] is None else {"max_turns": order["max_turns"]}
    handed_over = (job["model"], job["system"], job["messages"], job["tools"], order["prompt"])
    return actor.call(LOOP, actor.need("run_agent"), *handed_over, **limit)


def _is_run(run: Any) -> bool:
    return hasattr(type(run), "__next__")


def _step(step: Data) -> Any:
    return lab.forever(step["forever"]) if "forever" in step else step


def _tool(actor: Actor, spec: Data, ran: list[Any]) -> Data:
    def execute(arguments: Any) -> str:
        ran.append({"tool": spec["name"], "arguments": actor.plain(arguments)})
        if "raises" in spec:
            raise _RAISED[spec["raises"]](spec["says"])
        return str(spec["says"])

    return {
        "name": spec["name"],
        "description": "A tool.",
        "parameters": {"type": "object", "properties": {}},
        "execute": execute,
    }


_RAISED = {"FileNotFoundError": FileNotFoundError, "ValueError": ValueError, "OSError": OSError}


# --- frontends --------------------------------------------------------------------------------------


def json_lines(actor: Actor, play: Data) -> Data:
    """A run whose events go to a JsonRenderer one by one, as they come."""
    job = _job(actor, play)
    run = _start(actor, job, play["runs"][0])
    if not _is_run(run):
        return {"is_run": False, "returned": actor.plain(run)}
    renderer = actor.call("JsonRenderer()", actor.need("JsonRenderer"))
    render = actor.attribute("JsonRenderer", renderer, "render")
    lines = []
    for event in actor.events(LOOP, run, play["runs"][0]["most"]):
        actor.printed()
        raised = actor.raised("render(event)", render, event)
        lines.append(
            {
                "event": actor.plain(event),
                "tuples": _tuples(event, "event"),
                "raised": raised,
                "printed": actor.printed(),
            }
        )
    return {
        "is_run": True,
        "returned": None,
        "lines": lines,
        "record": actor.plain(job["messages"]),
        "model_calls": len(job["calls"]),
    }


def _tuples(value: Any, path: str, depth: int = 20) -> list[str]:
    """Where a value holds tuples, which JSON doesn't know and gives back as lists."""
    if issubclass(type(value), tuple):
        return [path]
    if depth == 0:
        return []
    if issubclass(type(value), dict):
        parts = [(f"[{str(key)[:40]!r}]", item) for key, item in dict.items(value)]
    elif issubclass(type(value), list):
        parts = [(f"[{at}]", item) for at, item in enumerate(list.__iter__(value))]
    else:
        parts = []
    return [found for name, item in parts for found in _tuples(item, path + name, depth - 1)]


def final_texts(actor: Actor, feeds: list[list[Data]], *, received: bool) -> list[Data]:
    """A FinalTextRenderer for each run, fed in turns, an event each; then each one's finish()."""
    feeds = _received(feeds) if received else feeds
    actor.printed()
    with contextlib.redirect_stderr(_Errors()) as errors:
        frontends = [_frontend(actor) for _ in feeds]
        made = actor.printed() + _taken(errors)
        heard: list[list[str]] = [[] for _ in feeds]
        for events in itertools.zip_longest(*feeds):
            for renderer, event, printed in zip(frontends, events, heard, strict=True):
                if event is not None:
                    actor.call("FinalTextRenderer.render(event)", renderer["render"], event)
                    printed.append(actor.printed() + _taken(errors))
        return [
            {"made": made, "heard": printed, **_finished(actor, renderer["finish"], errors)}
            for renderer, printed in zip(frontends, heard, strict=True)
        ]


def _frontend(actor: Actor) -> Data:
    renderer = actor.call("FinalTextRenderer()", actor.need("FinalTextRenderer"))
    return {
        name: actor.attribute("FinalTextRenderer", renderer, name) for name in ("render", "finish")
    }


def _finished(actor: Actor, finish: Any, errors: _Errors) -> Data:
    value = actor.call("FinalTextRenderer.finish()", finish)
    return {"value": actor.plain(value), "out": actor.printed(), "err": _taken(errors)}


class _Errors(io.StringIO):
    """Standard error while a frontend is fed. A submission that closes it closes nothing."""

    def close(self) -> None:
        """Stay open."""


def _taken(errors: _Errors) -> str:
    text = errors.getvalue()
    errors.seek(0)
    errors.truncate()
    return text
