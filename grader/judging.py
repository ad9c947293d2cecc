"""The judge as gradings use it: opened and told the lesson once, then run for one submission or many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.errors import LessonError, RoomError, WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.carried import Limits
    from grader.lessons import Lesson
    from grader.rooms import Room, Rooms

    Play = Callable[[dict[str, Any]], dict[str, Any]]
    Found = Callable[[str, dict[str, Any]], None]

_COLLECTING_S = 60.0
_STOPPING_S = 5.0


class Judge:
    """A judge room that has collected one lesson's tests, and runs them afresh for each submission.

    Args:
        rooms: where the room comes from.
        lesson: whose tests are collected.
        limits: how long it may think between two frames.
    """

    def __init__(self, rooms: Rooms, lesson: Lesson, limits: Limits) -> None:
        self._rooms = rooms
        self._lesson = lesson
        self._limits = limits
        self._room: Room | None = None
        self._ready = False
        self._once = False  # it can't fork, and is used up when it has run

    def start(self) -> None:
        """Open the room and hand it the tests, unless that has been done; does not wait for it.

        Raises:
            RoomError: the room can't be opened.
        """
        if self._room is None:
            self._room = self._rooms.open_judge()
            self._ready = False
            self._room.send(
                {
                    "op": "open",
                    "test_file": self._lesson.test_file,
                    "tests": self._lesson.test_source,
                    "modules": dict(self._lesson.modules),
                }
            )

    def run(self, seed: int, tests: Sequence[str], play: Play, found: Found) -> None:
        """Run the tests named, for one submission.

        Args:
            seed: what their values are drawn from.
            tests: ids.
            play: hands the stage what the judge asks of it, and gives its answer; what it raises ends the run.
            found: told each test's id and result, as soon as it is known.

        Raises:
            LessonError: pytest collected other tests than the catalogue knows.
            RoomError: the judge died, fell silent, or its two accounts of the tests disagree.
            WireError: what it sent is no frame.
        """
        self.start()
        assert self._room is not None
        try:
            self._collected(self._room)
            self._room.send({"op": "run", "seed": seed, "tests": list(tests)})
            self._relay(self._room, play, found)
        except (RoomError, WireError, LessonError):
            self.close()
            raise
        except BaseException:
            self._stop(self._room)
            raise
        finally:
            if self._once:
                self.close()

    def close(self) -> None:
        """End the room, if it is open. It can be started again."""
        if self._room is not None:
            self._room.close()
            self._room = None

    def _collected(self, room: Room) -> None:
        if self._ready:
            return
        ready = room.receive(_COLLECTING_S)
        collected, listed = ready.get("tests"), [test.id for test in self._lesson.tests]
        if ready["op"] != "ready" or collected != listed:
            raise LessonError(
                f"{self._lesson.folder / self._lesson.test_file}: pytest found the tests {collected},"
                f" its text has {listed}." + ready.get("error", ""),
                help="Import the module by itself to see what goes wrong in it.",
            )
        self._ready, self._once = True, ready.get("once", False)

    def _relay(self, room: Room, play: Play, found: Found) -> None:
        """Carry frames between the rooms until the run is over."""
        told: dict[str, bool] = {}
        while True:
            frame = room.receive(self._limits.judge_s)
            if frame["op"] == "play":
                room.send(play(frame))
            elif frame["op"] == "result":
                told[frame["id"]] = frame["outcome"] == "pass"
                found(frame["id"], frame)
            elif frame["op"] == "done":
                # pytest-json-report keeps its own account; what was streamed has to agree with it.
                if told != {name: how == "passed" for name, how in frame["outcomes"].items()}:
                    raise RoomError(
                        "The judge's two accounts of the tests disagree.", reason="untrusted"
                    )
                return
            else:
                raise RoomError("The judge broke off in the middle.", reason="died")

    def _stop(self, room: Room) -> None:
        """Break a run off and keep the room, or end it where that can't be done."""
        try:
            room.send({"op": "stop"})
            while room.receive(_STOPPING_S)["op"] != "stopped":
                pass
        except (RoomError, WireError):
            self.close()
