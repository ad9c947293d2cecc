"""Values that nobody can have written down in advance: drawn from the seed, for each test anew."""

from __future__ import annotations

import random
from typing import Any

_SYLLABLES = "ba be bo da de do fa fi ga go ka ke ki la le lo ma mi mo na ne no pa po ra ri ro sa se so ta ti to va vo za zu".split()  # noqa: SIM905
_OPENINGS = (
    "Please check",
    "Have a look at",
    "Tidy up",
    "Now go through",
    "Find out about",
    "Tell me about",
)
_ENDINGS = (".py", ".txt", ".md", ".toml", ".cfg")


class Draw:
    """Draws for one test. The same seed and test give the same values on every Python.

    Args:
        seed: of the grading.
        test: the id of the test.
    """

    def __init__(self, seed: int, test: str) -> None:
        self._random = random.Random(f"{seed}/{test}")  # noqa: S311 - repeatable on purpose
        self._taken: set[str] = set()

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return self._random.randint(low, high)

    def choice(self, items: list[Any]) -> Any:
        """One of `items`."""
        return self._random.choice(items)

    def shuffled(self, items: list[Any]) -> list[Any]:
        """`items` in some other order than the one given; the same order where there is only one."""
        if len(items) < 2:
            return list(items)
        while True:
            mixed = self._random.sample(items, len(items))
            if mixed != items:
                return mixed

    def word(self) -> str:
        """A made-up word, no two alike in one test."""
        return self._fresh(lambda: "".join(self._random.choices(_SYLLABLES, k=3)))

    def path(self) -> str:
        """A file name, no two alike in one test."""
        return self.word() + self._random.choice(_ENDINGS)

    def text(self) -> str:
        """A short sentence, no two alike in one test."""
        return f"{self._random.choice(_OPENINGS)} {self.word()} {self.number(2, 99)}."

    def texts(self, count: int) -> list[str]:
        """`count` sentences, no two alike."""
        return [self.text() for _ in range(count)]

    def id(self) -> str:
        """A call id, no two alike in one test."""
        return self._fresh(lambda: f"{self._random.choice('abdefgkx')}{self.number(10, 999)}")

    def tool(self) -> str:
        """A tool's name, no two alike in one test."""
        return f"{self._random.choice(('get', 'run', 'find', 'send', 'make'))}_{self.word()}"

    def like(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The same transcript with other ids, tools, arguments and words; equal words stay equal."""
        return _Redraw(self).messages(messages)

    def _fresh(self, make: Any) -> str:
        while True:
            value: str = make()
            if value not in self._taken:
                self._taken.add(value)
                return value


class _Redraw:
    """Draws one transcript again: what was one id, one tool or one text becomes one other."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._new: dict[tuple[str, str], Any] = {}

    def messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self._message(message) for message in messages]

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        redrawn = dict(message)
        if message["role"] == "assistant":
            redrawn["content"] = [self._block(block) for block in message["content"]]
            if "error_message" in message:
                redrawn["error_message"] = self._swap("text", message["error_message"])
        else:
            redrawn["content"] = self._swap("text", message["content"])
        if message["role"] == "toolResult":
            redrawn["tool_call_id"] = self._swap("id", message["tool_call_id"])
            redrawn["tool_name"] = self._swap("tool", message["tool_name"])
        return redrawn

    def _block(self, block: dict[str, Any]) -> dict[str, Any]:
        if block["type"] == "text":
            return {**block, "text": self._swap("text", block["text"])}
        arguments = {key: self._swap("text", value) for key, value in block["arguments"].items()}
        return {
            **block,
            "id": self._swap("id", block["id"]),
            "name": self._swap("tool", block["name"]),
            "arguments": arguments,
        }

    def _swap(self, kind: str, old: Any) -> Any:
        if not isinstance(old, str):
            return old
        if (kind, old) not in self._new:
            self._new[kind, old] = getattr(self._draw, kind)()
        return self._new[kind, old]
