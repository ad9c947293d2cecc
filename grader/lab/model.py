"""The model of every lab: it answers from a script, and refuses what a provider would refuse."""

from __future__ import annotations

from .messages import calls_of, checked, fail
from .usage import request_lines, usage
from .validation import validate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from .messages import Message

    Answer = Message | Callable[["Request"], Message]

__all__ = ["Forever", "Request", "ScriptedModel", "forever"]


class Request:
    """What one model call was sent, kept as it was at that moment.

    The lists are copies, so that a record which grows later does not show; the messages in them are
    the very objects that were sent, so that identity can be looked at.

    Attributes:
        system: the standing instructions.
        tools: the tool specs.
        messages: the transcript.
    """

    __slots__ = ("messages", "system", "tools")

    def __init__(self, system: str, messages: list[Message], tools: list[dict[str, Any]]) -> None:
        """Hold copies of the two lists."""
        self.system = system
        self.messages = list(messages)
        self.tools = list(tools)

    @property
    def user_text(self) -> str:
        """Every user message of the request, joined by newlines (page 9, the ``formatter`` cells).

        Raises:
            TypeError: a user message's content is not a string.
        """
        return "\n".join(m["content"] for m in self.messages if m["role"] == "user")

    @property
    def last_result(self) -> Message | None:
        """The newest toolResult of the request, or None (page 9, "Which one?")."""
        results = [m for m in self.messages if m["role"] == "toolResult"]
        return results[-1] if results else None


class Forever:
    """A step of a script that is never used up. ``forever`` makes them."""

    __slots__ = ("answer",)

    def __init__(self, answer: Answer) -> None:
        """Hold the answer."""
        self.answer = answer


def forever(answer: Answer) -> Forever:
    """Make a step that answers every call from here on.

    Args:
        answer: a reply, or a function that takes the ``Request`` and returns one.

    Raises:
        TypeError: it is neither.
    """
    return Forever(_answer(answer, "forever()"))


class ScriptedModel:
    """A model whose replies are written down beforehand.

    Args:
        script: one step a call: a reply (``reply``, ``say``, ``fail``), a function that takes the
            ``Request`` and returns a reply, or, as the last step, ``forever`` of either.

    Attributes:
        calls: a ``Request`` for every call, also for one that was refused. The pages leave that
            open; what a model was sent is worth seeing above all when it was refused.
        ran_out: whether a call came for which the script had no step left.

    Raises:
        TypeError: a step is none of these.
        ValueError: a step stands behind a ``forever``, where nothing can reach it.
    """

    def __init__(self, script: Iterable[Answer | Forever]) -> None:
        """Check the script and rewind it."""
        self.calls: list[Request] = []
        self.ran_out = False
        self._script = list(script)
        self._at = 0
        self._ids = 0
        self._earlier: list[str] = []
        for at, step in enumerate(self._script):
            if not isinstance(step, Forever):
                _answer(step, f"script step {at}")
            elif at + 1 < len(self._script):
                raise ValueError(f"script step {at + 1} is out of reach: step {at} answers forever")

    def complete(
        self, system: str, messages: Sequence[Message], tools: Sequence[dict[str, Any]]
    ) -> Message:
        """Answer one request.

        A transcript that a provider would not take is answered with a failed reply that names the
        first complaint, ``400 invalid_request: messages[1]: ...``, and the script stays where it is
        (page 7, the ``raed`` cell; page 10, "The user walks away"). A script that has run out gives
        a failed reply too, which says so: the pages leave that open, and a failed reply ends a run
        the way a run is meant to end.

        Calls without an id get ``c1``, ``c2``, ... afresh for every answer, counted by this model
        across runs. A reply that did not fail carries ``usage``, where a request that was refused
        does not count as an earlier one. Every reply is a copy of the script's.

        Raises:
            TypeError, ValueError: this is not a request (the text says what is wrong with it), and
                then it is not in ``calls`` either; or the script's function returned something that
                is no assistant message.
        """
        if not isinstance(system, str):
            raise TypeError(f"system is a string, not a value of type {type(system).__name__}")
        if not isinstance(tools, (list, tuple)):
            raise TypeError(f"tools is a list of specs, not a value of type {type(tools).__name__}")
        request = Request(system, checked(messages), list(tools))
        lines = request_lines(system, request.tools, request.messages)
        complaints = validate(request.messages)
        self.calls.append(request)
        if complaints:
            return fail(f"400 invalid_request: {complaints[0]}")
        answer = self._with_ids(self._scripted(request))
        if answer["stop_reason"] != "error":
            answer["usage"] = usage(lines, self._earlier, answer["content"])
        self._earlier = lines
        return answer

    def _scripted(self, request: Request) -> Message:
        if self._at == len(self._script):
            self.ran_out = True
            steps = "1 reply" if self._at == 1 else f"{self._at} replies"
            return fail(f"script exhausted: it held {steps}, and this call asks for one more")
        step = self._script[self._at]
        if isinstance(step, Forever):
            answer = step.answer
        else:
            self._at += 1
            answer = step
        if isinstance(answer, dict):
            return answer
        return _reply(answer(request), "a function of the script")

    def _with_ids(self, message: Message) -> Message:
        answer: Message = {key: _copied(value) for key, value in message.items()}
        for block in calls_of(answer):
            if block["id"] is None:
                self._ids += 1
                block["id"] = f"c{self._ids}"
        return answer


def _answer(answer: Answer, where: str) -> Answer:
    if callable(answer):
        return answer
    return _reply(answer, where)


def _reply(answer: object, where: str) -> Message:
    if not isinstance(answer, dict) or answer.get("role") != "assistant":
        raise TypeError(f"{where} gave {answer!r:.60}, which is no assistant message")
    if "stop_reason" not in answer:
        raise TypeError(f"{where} gave an assistant message without a stop_reason")
    return checked([answer])[0]


def _copied(value: object) -> object:
    """Copy dicts and lists all the way down, so that a script is never changed by its reader."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
