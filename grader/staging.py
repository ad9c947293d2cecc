"""The stage as one grading uses it: time shared out among the scenes, a new room when one has died."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from grader import outcome
from grader.carried import Seen
from grader.errors import RoomError, WireError
from grader.records import Limits, Problem, SceneFault, Submission, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.lessons import Lesson
    from grader.rooms import Room, Rooms

_MARGIN_S = 6.0  # between a scene's own limit, which the stage keeps, and giving the stage up
_OPENING_S = 30.0
_MAX_TEXT = 20_000  # characters of a fault's message
_MAX_LINES = 12  # of a traceback
_USED_UP = ("timeout", "memory")  # faults for which there may be one scene too many in a process


class TimeUpError(Exception):
    """The submission's whole time is used up."""


def _seen(told: Any) -> Seen:
    try:
        seen: Seen = from_json(Seen, told)
    except ValueError as exc:
        raise WireError("it is no answer") from exc
    return seen


def _checked(op: str, answer: dict[str, Any], last_line: int, ahead: int) -> dict[str, Any]:
    """What a job gave, within bounds, with lines that there are; a fault if it is nothing that it can give.

    A submission has a hand in everything that comes out of its room.
    """
    told = {"stdout": answer["stdout"]}
    try:
        if "fault" in answer:
            fault = _bounded(from_json(SceneFault, answer["fault"]), last_line)
            return {"fault": to_json(fault), **told}
        if ahead and "observations" in answer:
            first, *others = _so_many(answer["observations"], 1 + ahead)
            return {"observation": first, "ahead": others, **told}
        if op == "play":
            return {"observation": answer["observation"], **told}
        if "problem" in answer:
            problem = from_json(Problem, answer["problem"])
            return {"problem": to_json(problem._replace(line=_a_line(problem.line, last_line)))}
        lines = answer["lines"].items()
        return {"lines": {n: at for n, at in lines if 1 <= from_json(int, at) <= last_line}}
    except (KeyError, TypeError, AttributeError, ValueError):
        return {**outcome.fault("protocol", outcome.FORGED.format("it is no answer")), **told}


def _a_line(line: int | None, last_line: int) -> int | None:
    return line if line is not None and 1 <= line <= last_line else None


def _so_many(seen: Any, count: int) -> list[Any]:
    observations: list[Any] = from_json(list, seen)
    if len(observations) != count:
        raise ValueError(f"{len(observations)} observations of {count} scenes")
    return observations


def _bounded(fault: SceneFault, last_line: int) -> SceneFault:
    return fault._replace(
        message=fault.message[:_MAX_TEXT],
        line=_a_line(fault.line, last_line),
        traceback=tuple(text[:_MAX_TEXT] for text in fault.traceback[-_MAX_LINES:]),
    )


class Stage:
    """One submission's stage.

    Args:
        rooms: where stages come from.
        lesson: whose scenes are played.
        submission: what is played.
        limits: how long, how much.
    """

    def __init__(
        self, rooms: Rooms, lesson: Lesson, submission: Submission, limits: Limits
    ) -> None:
        self._rooms = rooms
        self._lesson = lesson
        self._limits = limits
        self._first = {
            "op": "open",
            "source": submission.text,
            "modules": dict(lesson.modules),
            "scenes": lesson.scene_source,
            "limits": to_json(limits),
        }
        self._last_line = submission.text.count("\n") + 1
        self._room: Room | None = None
        self._control: Stage | None = None
        self._used_s = 0.0
        self._ran_out = 0  # scenes that used up their limit on the clock
        self._together = True  # scenes may share a process
        self.python: str | None = None

    @property
    def total_s(self) -> float:
        """Seconds that the submission has in all."""
        return self._limits.total_s

    @property
    def hurried(self) -> bool:
        """Whether scenes get the shorter limit by now."""
        return self._ran_out >= self._limits.patience

    def start(self) -> None:
        """Open a room and hand it the submission; does not wait for it to be ready.

        Raises:
            RoomError: the room can't be opened.
        """
        self._room = self._rooms.open_stage()
        self._room.send(self._first)

    def do(self, op: str, *, ahead: Sequence[dict[str, Any]] = (), **values: Any) -> dict[str, Any]:
        """Have the stage do a job; give its answer, with a `fault` where the submission brought it down.

        Args:
            op: "load" or "play".
            ahead: scenes that will probably be asked for next, each with "scene" and "given". They are played
                in the same process; where all goes as it should, the answer has what was seen in them, as
                `ahead`. Else nothing comes of that, and the scene is played again, alone.
            values: the scene's.

        Raises:
            TimeUpError: no time is left for this submission.
            RoomError: a room can't be opened. What a submission does to an open one is a fault.
        """
        if ahead and self._together and not self.hurried:
            together = self._several(ahead, values)
            if together is not None:
                return together
        wall_s = self._wall_s(hurried=self.hurried)
        answer, took_s = self._asked(op, wall_s, values)
        if took_s >= wall_s:
            self._ran_out += 1
        return self._without_excuse(answer, values) if op == "play" else answer

    def close(self) -> None:
        """End the room, if there is one."""
        if self._control is not None:
            self._control.close()
        if self._room is not None:
            self._room.close()
            self._room = None

    def _several(
        self, ahead: Sequence[dict[str, Any]], values: dict[str, Any]
    ) -> dict[str, Any] | None:
        """The answer to several scenes in one process; None where anything is odd.

        They have no more time together than a hurried one has, because each can be played again alone.
        """
        several = {**values, "ahead": list(ahead)}
        answer, _ = self._asked("play", self._wall_s(hurried=True), several)
        used_up = answer.get("fault", {}).get("kind") in _USED_UP
        self._together = self._room is not None and not used_up  # what costs time is tried once
        return answer if "ahead" in answer else None

    def _wall_s(self, *, hurried: bool) -> float:
        """Seconds on the clock for the next job.

        Raises:
            TimeUpError: no time is left for this submission.
        """
        left_s = self._limits.total_s - self._used_s
        if left_s <= 0:
            raise TimeUpError
        limit_s = self._limits.hurried_wall_s if hurried else self._limits.scene_wall_s
        return round(min(limit_s, left_s), 3)

    def _asked(
        self, op: str, wall_s: float, values: dict[str, Any]
    ) -> tuple[dict[str, Any], float]:
        """The stage's answer to a job, and how many seconds it took."""
        # What brought the last room down has the next one's start to pay for.
        again, began = self._room is None, time.monotonic()
        room = self._ready()
        began, opening_s = time.monotonic(), time.monotonic() - began
        try:
            room.send({"wall_s": wall_s}, {"op": op, **values})
            seen = _seen(room.receive(wall_s + _MARGIN_S))
            wrote, printed = room.receive_bytes(_MARGIN_S), room.receive_bytes(_MARGIN_S)
        except WireError as exc:
            answer = self._brought_down("protocol", outcome.FORGED.format(exc))
        except RoomError as exc:
            answer = self._fell(exc)
        else:
            gave = outcome.answer(seen, wrote, printed, self._limits, wall_s)
            answer = _checked(op, gave, self._last_line, len(values.get("ahead", ())))
        took_s = time.monotonic() - began
        self._used_s += took_s + (opening_s if again else 0.0)
        return answer, took_s

    def _without_excuse(self, answer: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """A scene that broke is ours, unless the same one holds with another submission in its place.

        Nothing that comes out of a room shows who broke it: a submission can take the lab apart, or
        write the fault down itself. So the scene is played again with the lesson's stand-in.
        """
        fault = answer.get("fault")
        if fault is None or fault["kind"] != "scene":
            return answer
        if not self._lesson.stand_in:
            return answer
        if self._control is None:
            text = self._lesson.stand_in
            stand_in = Submission("harness.py", text, "", len(text))
            without = dataclasses.replace(self._lesson, stand_in="")  # its word is the last one
            self._control = Stage(self._rooms, without, stand_in, self._limits)
        try:
            shown = self._control.do("play", **given)
        except TimeUpError:
            return answer
        if "observation" not in shown:
            return answer
        why = fault["message"].partition(": ")[2] or "no reason given"
        excuse = f"what the harness did, or handed back, broke the program around it: {why}"
        return {**answer, "fault": to_json(SceneFault("protocol", excuse))}

    def _ready(self) -> Room:
        """The room, opened again if the last one is gone, and its first answer taken."""
        if self._room is None:
            self.start()
            self.python = None
        assert self._room is not None
        if self.python is None:
            try:
                opened = self._room.receive(_OPENING_S)
            except WireError as exc:
                raise RoomError(f"The stage did not open: {exc}.", reason="open") from exc
            self.python = str(opened.get("python", "")) if isinstance(opened, dict) else ""
        return self._room

    def _fell(self, exc: RoomError) -> dict[str, Any]:
        if exc.reason == "silent":
            return self._brought_down(
                "timeout", "the harness did not come back and could not be stopped"
            )
        if exc.reason == "memory":
            return self._brought_down("memory", "the harness ran out of memory")
        if exc.reason == "died":
            return self._brought_down(
                "crash", "the harness ended the process that was watching over it"
            )
        raise exc

    def _brought_down(self, kind: Any, message: str) -> dict[str, Any]:
        """The submission did this: whatever is left of the room goes, and the next job gets a new one."""
        self.close()
        return {"fault": to_json(SceneFault(kind, message)), "stdout": ""}
