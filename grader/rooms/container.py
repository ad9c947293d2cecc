"""Rooms that are sealed containers: where submissions of strangers belong.

A container is made, attached to and started in a thread of its own, so the two rooms of a grading open at
the same time; what is sent meanwhile waits. It is also removed in a thread of its own, which the program
waits for before it ends. Whatever is left over all the same, the next run sweeps up.

A submission can't end the stage: signals from inside a pid namespace do not reach its PID 1. So when a
container is gone, the engine is asked what became of it, and only what a submission can have done is held
against it.
"""

from __future__ import annotations

import atexit
import contextlib
import queue
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Self

from grader import wire
from grader.carried import Limits
from grader.errors import RoomError, WireError
from grader.rooms import engine as engines
from grader.rooms import image as images
from grader.rooms import sweeping
from grader.rooms.attach import STREAMS, Line
from grader.rooms.engine import QUICK_S, Engine
from grader.rooms.flags import container_flags

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.rooms.flags import Role

__all__ = ["ContainerRoom", "ContainerRooms", "container_flags"]

_SETTLING_S = 3.0  # how long the engine may take to notice that a container has ended
_STAGE_SPARE_S = 1200.0  # on top of a submission's time: the judge thinks, too
_JUDGE_LIFETIME_S = 6 * 3600.0  # a batch keeps its judges
_KILLED = 137


class ContainerRoom:
    """A room in a container of its own, which opens in the background.

    Args:
        engine: that runs it.
        role: "stage" or "judge"; what it is called in messages.
        image: the image's id.
        flags: from `container_flags`.
        trusted: whether it is only ours that runs in it.
    """

    def __init__(
        self, engine: Engine, role: str, image: str, flags: Mapping[str, Any], *, trusted: bool
    ) -> None:
        self._engine, self._role, self._image, self._flags = engine, role, image, flags
        self._trusted = trusted
        self._frame_limit = wire.MAX_TRUSTED_FRAME if trusted else 2 * wire.MAX_FRAME
        self._frames: queue.Queue[bytes | EOFError | WireError] = queue.Queue(maxsize=4)
        self._lock = threading.Lock()  # of what waits to be sent
        self._waiting: list[bytes] | None = []
        self._line: Line | None = None
        self._failed: RoomError | None = None
        self._closing: threading.Thread | None = None
        self.container: str | None = None
        self.in_doubt = False  # whether a container may be there that was not removed
        self._opening = threading.Thread(target=self._open)
        self._opening.start()

    def send(self, *values: Any) -> None:
        """Send each value as a frame, or keep it until the room is open. See `Room`."""
        data = b"".join(map(wire.encode, values))
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(data)
                return
        self._send(data)

    def receive(self, timeout_s: float) -> Any:
        """The next frame, decoded; the time counts from when the room is open. See `Room`."""
        frame = self.receive_bytes(timeout_s)
        return wire.decode_trusted(frame) if self._trusted else wire.decode(frame)

    def receive_bytes(self, timeout_s: float) -> bytes:
        """The next frame's body; the time counts from when the room is open. See `Room`."""
        self._opening.join()
        if self._failed is not None:
            raise self._failed
        try:
            frame = self._frames.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            raise self._silent(timeout_s) from None
        if isinstance(frame, EOFError):
            raise self._ended()
        if isinstance(frame, WireError):
            raise frame
        return frame

    def close(self) -> None:
        """End the container in the background. See `Room`."""
        if self._closing is None:
            self._closing = threading.Thread(target=self._remove)
            self._closing.start()

    def join(self) -> None:
        """Wait until a closed room is gone."""
        if self._closing is not None:
            self._closing.join()

    @property
    def gone(self) -> bool:
        """Whether it was closed and has certainly been removed."""
        return self._closing is not None and not (self._closing.is_alive() or self.in_doubt)

    def _open(self) -> None:
        try:
            with self._engine.client() as api:
                self.container = engines.create(api, self._image, self._flags)
                self._line = Line(api.attach_socket(self.container, STREAMS))
                api.start(self.container)
        except Exception as exc:  # noqa: BLE001 - nobody else would hear of it in this thread
            self.in_doubt = True
            self._failed = exc if isinstance(exc, RoomError) else engines.explained(exc)
        with self._lock:  # held while sending, so that nothing overtakes what was kept
            data, self._waiting = b"".join(self._waiting or []), None
            if self._failed is None:
                threading.Thread(target=self._read_frames, daemon=True).start()
                with contextlib.suppress(RoomError):  # `receive` will find out, and why it is so
                    self._send(data)

    def _send(self, data: bytes) -> None:
        if self._failed is not None:
            raise self._failed
        assert self._line is not None
        try:
            self._line.send(data)
        except TimeoutError:
            raise self._silent(engines.QUICK_S) from None
        except OSError:
            raise self._ended() from None

    def _read_frames(self) -> None:
        assert self._line is not None
        while not self._line.closed:
            frame: bytes | EOFError | WireError
            try:
                frame = wire.read_body(self._line.read, self._frame_limit)
            except (EOFError, WireError) as exc:
                # A frame that was cut is no frame of the room's making: the line, or the room, is gone.
                frame = EOFError() if self._line.ended else exc
            while not self._line.closed:
                with contextlib.suppress(queue.Full):
                    self._frames.put(frame, timeout=0.5)
                    break
            if not isinstance(frame, bytes):
                return

    def _remove(self) -> None:
        self._opening.join()
        if self._line is not None:
            self._line.close()
        if self.container is not None:
            try:
                with self._engine.client() as api:
                    engines.remove(api, self.container)
            except RoomError:
                self.in_doubt = True

    def _ended(self) -> RoomError:
        """The line has ended. Whose doing is it?"""
        deadline = time.monotonic() + _SETTLING_S
        try:
            state = self._state()
            while state is not None and state.get("Running") and time.monotonic() < deadline:
                time.sleep(0.05)
                state = self._state()
        except RoomError as exc:
            return engines.lost(f"The container engine is gone: {exc.message}")
        assert self._line is not None
        return fate(self._role, state, self._line.last_words)

    def _silent(self, waited_s: float) -> RoomError:
        """Nothing came. An engine that hangs, or a container that somebody froze, is no submission's."""
        try:
            state = self._state()
        except RoomError as exc:
            return engines.lost(f"The container engine does not answer: {exc.message}")
        if state is None or not state.get("Running"):
            return self._ended()
        if state.get("Paused"):
            return engines.lost(f"The {self._role}'s container was paused from outside.")
        return RoomError(
            f"The {self._role} did not answer within {waited_s:.0f} s.", reason="silent"
        )

    def _state(self) -> dict[str, Any] | None:
        """What the engine knows of the container; None where it is gone."""
        import docker  # noqa: PLC0415

        with self._engine.client(QUICK_S) as api:
            try:
                state: dict[str, Any] = api.inspect_container(self.container)["State"]
            except docker.errors.NotFound:
                return None
            return state


def fate(role: str, state: Mapping[str, Any] | None, last_words: str = "") -> RoomError:
    """What became of a room whose line has ended.

    Args:
        role: what the room is called.
        state: the container's, from the engine; None where there is no such container any more.
        last_words: the last line of its standard error.

    Returns:
        reason "memory" or "died" where a submission can have done it; "engine" where it can't.
    """
    if state is None:
        return engines.lost(f"The {role}'s container was removed from outside.")
    if state.get("Running"):
        return engines.lost(f"The line to the {role}'s container was cut.")
    code = state.get("ExitCode")
    if state.get("OOMKilled"):
        return RoomError(f"The {role} ran out of memory.", reason="memory")
    if code == _KILLED:
        return engines.lost(f"The {role}'s container was killed from outside.")
    if code == 0:  # it leaves when its input ends, and in no other case
        return engines.lost(f"The line to the {role}'s container was cut.")
    words = f" Its last words: {last_words}" if last_words else ""
    return RoomError(f"The {role} ended (exit status {code}).{words}", reason="died")


class ContainerRooms:
    """Opens rooms as containers of one image. Close it when the last of them is closed.

    Args:
        image: its name.
        limits: of memory, processes and CPUs for each room.

    Raises:
        RoomError: no engine, no image, or an image that does not fit; reason "open".
    """

    name = "docker"

    def __init__(self, image: str = images.IMAGE, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._engine = Engine()
        self.image: str | None = images.fitting(self._engine, image)
        self._run = uuid.uuid4().hex
        self._rooms: list[ContainerRoom] = []
        self._lock = threading.Lock()
        self._judge: ContainerRoom | None = None
        self._stage: ContainerRoom | None = None
        self._sweep = threading.Thread(target=self._sweep_leftovers)
        self._sweep.start()
        atexit.register(self.close)

    def open_ahead(self) -> None:
        """See `Rooms`."""
        if self._judge is None and self._stage is None:
            self._judge = self._new_judge()  # takes the longer of the two
            self._stage = self._new_stage()

    def open_stage(self) -> ContainerRoom:
        """A stage, opening. Failing to open is told by its first `receive`."""
        room, self._stage = self._stage, None
        return room or self._new_stage()

    def open_judge(self) -> ContainerRoom:
        """A judge, opening. Failing to open is told by its first `receive`."""
        room, self._judge = self._judge, None
        return room or self._new_judge()

    def close(self) -> None:
        """Remove every room that is left, and wait for those that are going. May be called twice."""
        atexit.unregister(self.close)
        rooms, self._rooms = self._rooms, []
        with contextlib.suppress(RuntimeError):  # no new thread when Python itself is ending
            for room in rooms:
                room.close()
        for room in rooms:
            room.join()
        self._sweep.join()
        if any(room.in_doubt for room in rooms):
            with contextlib.suppress(RoomError):  # the engine is gone; the next run will find them
                sweeping.sweep(self._engine, run=self._run)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _new_stage(self) -> ContainerRoom:
        lifetime_s = self._limits.total_s + _STAGE_SPARE_S
        return self._room("stage", lifetime_s)

    def _new_judge(self) -> ContainerRoom:
        return self._room("judge", _JUDGE_LIFETIME_S)

    def _room(self, role: Role, lifetime_s: float) -> ContainerRoom:
        assert self.image is not None
        labels = sweeping.labels(self._run, lifetime_s)
        flags = container_flags(role, self._limits, labels=labels)
        room = ContainerRoom(self._engine, role, self.image, flags, trusted=role == "judge")
        with self._lock:  # workers of a batch share one object
            self._rooms = [kept for kept in self._rooms if not kept.gone] + [room]
        return room

    def _sweep_leftovers(self) -> None:
        with contextlib.suppress(RoomError):
            sweeping.sweep(self._engine)
