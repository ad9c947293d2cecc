"""What a hidden test is written with: `rule`, and the fixtures `play`, `draw` and `expect`.

    @rule("first-result-wins")
    def test_duplicate_result(play, draw, expect):
        \"\"\"Of two results for one call, the first stays.\"\"\"

A test plays scenes with values of its own, keeps the values, and compares what was seen with them. It
never reads what it compares with out of what was seen.

A test module's `SHAPES` says for each scene how it writes down what it saw: a function of the scene's
values that gives a shape (see `compare.fits`). What has another shape was not written by that scene.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from grader.carried import Limits, SceneFault, from_json
from grader.inside.compare import differing, equal, fits
from grader.inside.draw import Draw
from grader.wire import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Ask = Callable[[dict[str, Any]], dict[str, Any]]
    Shapes = Mapping[str, Callable[..., Any]]
    Text = str | Callable[[], str]

__all__ = ["GIVEN", "BrokenRuleError", "Draw", "Expect", "Failure", "Play", "rule"]

GIVEN = (
    "(given)"  # what a failure is about that shows in code of the starter: no line of the student's
)

_PRINTED_KEPT = Limits().stdout_bytes  # characters

_Test = TypeVar("_Test", bound="Callable[..., object]")


def rule(rule_id: str) -> Callable[[_Test], _Test]:
    """Ties a hidden test to the rule of `lesson.toml` that it checks. Read by the catalogue, as text."""

    def tie(test: _Test) -> _Test:
        test.__dict__["rule"] = rule_id
        return test

    return tie


@dataclass
class Failure:
    """Everything that a failed test has to tell; becomes a `TestResult`."""

    kind: str
    message: str
    given: str = ""
    expected: str = ""
    observed: str = ""
    diff: str = ""
    hint: str = ""
    wrong_answer: str = ""
    replay: str = ""
    about: str = ""
    line: int | None = None
    traceback: list[str] = field(default_factory=list)
    name: str = ""


class BrokenRuleError(AssertionError):
    """The submission broke the rule; `failure` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class SceneError(Exception):
    """A scene of ours is wrong. Never the submission's doing; the test is an `error`."""


@dataclass
class Case:
    """What is being played just now, for the messages of whatever fails.

    To make a text can take longer than to play and to compare. So a `Text` may be what makes it, and is asked
    where something fails.
    """

    given: str = ""
    replay: Text = ""
    hint: str = ""


class Play:
    """Plays scenes on the stage: a test's in one process, which imports the submission for each afresh.

    What comes of a scene that was played with others may come of those. So it counts only where all is as
    it should be; else the test has to be run again: see `again`.

    Args:
        ask: sends a question to the stage and gives back its answer; see `grader.inside.stage`.
        case: shared with `Expect`: what to say was given when something fails.
        shapes: how each scene writes down what it saw.

    Attributes:
        script: what will probably be asked, from the first question on; see `rehearsal`.
        together: scenes were played in one process.
        stdout: what was printed in the last process.
        printed: what was printed in all of them.
    """

    def __init__(self, ask: Ask, case: Case, shapes: Shapes) -> None:
        self._ask = ask
        self._shapes = shapes
        self._case = case
        # Questions that have been played and not been asked yet, and what was seen.
        self._played: list[tuple[dict[str, Any], Any]] = []
        self.script: list[dict[str, Any]] = []
        self.together = False
        self.stdout = self.printed = ""

    def again(self) -> None:
        """From now on each scene has a process of its own. Forget what has been played."""
        self._played, self.script, self.together = [], [], False
        self.stdout = self.printed = ""
        vars(self._case).update(vars(Case()))

    def case(self, *, given: str, replay: Text = "", hint: str = "") -> None:
        """Say what the next scenes and expectations are about: the values, and how to replay them."""
        self._case.given, self._case.replay, self._case.hint = given, replay, hint

    def __call__(self, scene: str, **given: Any) -> Any:
        """The observation of `scene`, played with the values `given`.

        Raises:
            BrokenRuleError: the submission raised, lacks a name, took too long, or crashed.
            SceneError: the scene itself is wrong.
        """
        answer = self._answer(scene, given)
        if "observation" in answer:
            shape = self._shapes.get(scene)
            if shape is not None and not fits(answer["observation"], shape(**given)):
                raise BrokenRuleError(self._failure(_UNREADABLE))
            return answer["observation"]
        fault: SceneFault = from_json(SceneFault, answer["fault"])
        if fault.kind == "scene":
            raise SceneError(f"scene {scene!r}: {fault.message}")
        raise BrokenRuleError(self._failure(fault))

    def _answer(self, scene: str, given: dict[str, Any]) -> dict[str, Any]:
        asked = {"scene": scene, "given": given}
        if self._played:
            foreseen, seen = self._played.pop(0)
            if encode(foreseen) == encode(asked):
                return {"observation": seen}
            self._played = []
        script, self.script = self.script, []
        ahead = script[1:] if script and encode(script[0]) == encode(asked) else []
        answer = self._ask({"op": "play", **asked, "ahead": ahead})
        self.stdout = answer.get("stdout", "")
        self.printed = (self.printed + self.stdout)[:_PRINTED_KEPT]
        if "ahead" in answer:
            self.together = True
            self._played = list(zip(ahead, answer["ahead"], strict=True))
        return answer

    def _failure(self, fault: SceneFault) -> Failure:
        case = self._case
        came, _, due = fault.message.removesuffix(".").partition(", not ")
        of_a_rule = fault.kind == "rule" and due  # what was handed back can't be played on with
        return Failure(
            kind=fault.kind,
            message=_sentence(case.given, fault.message) if fault.kind != "load" else fault.message,
            given=case.given,
            expected=due if of_a_rule else "",
            observed=came if of_a_rule else fault.message,
            hint=_HINTS.get(fault.kind) or case.hint,
            replay=_made(case.replay),
            line=fault.line,
            traceback=list(fault.traceback),
            name=fault.name,
        )


class Expect:
    """Compares what was seen with what the rule asks for; the first difference ends the test.

    Args:
        case: shared with `Play`.
    """

    def __init__(self, case: Case) -> None:
        self._case = case

    def equal(
        self,
        seen: Any,
        wanted: Any,
        message: Text,
        *,
        wrong: Mapping[str, Any] | None = None,
        hint: Text = "",
        about: str = "",
        shown: tuple[Any, Any] | None = None,
    ) -> None:
        """`seen` must be `wanted`, by exact type and value.

        Args:
            seen: from an observation.
            wanted: built from the test's own values.
            message: what went wrong, when it did, as a sentence without "given …".
            wrong: id of a wrong answer -> what would be seen from it, or a function that tells; the
                first that fits is named.
            hint: the next thing to look at.
            about: the function whose line is shown; the rule's function otherwise, and none for GIVEN.
            shown: what to compare for the reader instead, what is due first.

        Raises:
            BrokenRuleError: they differ.
        """
        if equal(seen, wanted):
            return
        looks_like = next((name for name, idea in (wrong or {}).items() if _is(seen, idea)), "")
        expected, observed, diff = differing(*(shown or (wanted, seen)))
        self.fail(
            _made(message),
            expected=expected,
            observed=observed,
            diff=diff,
            wrong=looks_like,
            hint=_made(hint),
            about=about,
        )

    def holds(
        self,
        condition: bool,
        message: str,
        *,
        expected: str,
        observed: str,
        wrong: str = "",
        hint: str = "",
        about: str = "",
    ) -> None:
        """Something must be so; for what is no comparison of values.

        Raises:
            BrokenRuleError: it isn't.
        """
        if not condition:
            self.fail(
                message, expected=expected, observed=observed, wrong=wrong, hint=hint, about=about
            )

    def fail(
        self,
        message: str,
        *,
        expected: str,
        observed: str,
        diff: str = "",
        wrong: str = "",
        hint: str = "",
        about: str = "",
    ) -> None:
        """End the test: the rule is broken.

        Raises:
            BrokenRuleError: always.
        """
        raise BrokenRuleError(
            Failure(
                kind="rule",
                message=_sentence(self._case.given, message),
                given=self._case.given,
                expected=expected,
                observed=observed,
                diff=diff,
                hint=hint or self._case.hint,
                wrong_answer=wrong,
                replay=_made(self._case.replay),
                about=about,
            )
        )


def _made(text: Text) -> str:
    return text if isinstance(text, str) else text()


def _is(seen: Any, idea: Any) -> bool:
    return bool(idea(seen)) if callable(idea) else equal(seen, idea)


def _sentence(given: str, message: str) -> str:
    return f"Given {given}: {message}" if given else message


_UNREADABLE = SceneFault("protocol", "what was written down while the harness ran can't be read.")
_HINTS = {
    "exception": "Read the last line of the traceback, and which value it had to work with.",
    "timeout": "Look for a loop whose condition never changes, or a call that waits for something.",
    "crash": "Something ended the whole program. A harness must not leave by itself.",
    "memory": "Something grows without end: a list that is added to while it is walked, for instance.",
    "output": "Something grows without end: look at what is put into lists and events.",
    "protocol": "Does something in the file reach into the program around it? A harness has no business"
    " there.",
    "rule": "What it hands back can't be used at all, so nothing else was looked at. Which line returns it?",
    "missing_name": "The tests ask for this name as it is spelled in the lesson.",
}
