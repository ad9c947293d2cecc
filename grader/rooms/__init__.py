"""Rooms: where a submission is played and where it is judged, sealed off from each other.

A `Room` takes frames and gives frames. `process` makes one of a plain process.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from grader.errors import RoomError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.carried import Limits

_SOCKET = "/var/run/docker.sock"


class Room(Protocol):
    """One open room."""

    def send(self, *values: Any) -> None:
        """Send each value as a frame.

        Raises:
            RoomError: the room is gone; reason "died".
        """

    def receive(self, timeout_s: float) -> Any:
        """The next frame, decoded.

        Args:
            timeout_s: how long to wait for it, in seconds.

        Raises:
            RoomError: nothing came in that time ("silent"), or the room ended ("died").
            WireError: what came is no frame.
        """

    def receive_bytes(self, timeout_s: float) -> bytes:
        """The next frame's body as it is. Arguments and errors as of `receive`."""

    def close(self) -> None:
        """End the room and everything in it. May be called twice."""


class Rooms(Protocol):
    """Opens rooms of one kind."""

    name: str
    image: str | None

    def open_stage(self) -> Room:
        """Open a stage room.

        Raises:
            RoomError: it can't be opened; reason "open".
        """

    def open_judge(self) -> Room:
        """Open a judge room.

        Raises:
            RoomError: it can't be opened; reason "open".
        """

    def close(self) -> None:
        """End whatever is left of them."""


class EagerRooms(Rooms, Protocol):
    """Can open rooms before they are asked for."""

    def open_ahead(self) -> None:
        """Open one of each while the program is still getting ready; they are the first that are handed out."""


def choose(
    runner: str, *, limits: Limits, warn: Callable[[str], None], ahead: bool = False
) -> Rooms:
    """The rooms that `--runner` asks for. Close them when the last of them is closed.

    Args:
        runner: "docker", "local", or "auto" for containers where they can be had, else processes.
        limits: of memory, processes and CPUs for each container.
        warn: told, in one sentence, when "auto" falls back.
        ahead: open the first rooms now, before they are asked for.

    Raises:
        RoomError: "docker", and no container can be had.
        UsageError: "auto" in a CI pipeline without an engine: there, falling back in silence would
            mean grading strangers' code unsealed.
    """
    if runner == "local":
        return _processes(ahead=ahead)
    try:
        return _containers(limits, ahead=ahead)
    except RoomError as exc:
        if runner == "docker":
            raise
        if os.environ.get("CI", "").lower() in ("true", "1"):
            raise UsageError(
                f"Nothing to grade with in containers: {exc.message}",
                help="Say --runner local to grade in plain processes, or set up an engine:"
                " submissions of strangers belong into containers.",
            ) from exc
        warn(f"{exc.message} So this runs in plain processes (--runner local).")
        return _processes(ahead=ahead)


def engine_likely(environment: Mapping[str, str]) -> bool:
    """Whether there may be a container engine, as far as can be told without asking one."""
    return bool(environment.get("DOCKER_HOST")) or os.name == "nt" or Path(_SOCKET).exists()


def _processes(*, ahead: bool) -> Rooms:
    from grader.rooms import early  # noqa: PLC0415 - one kind is used
    from grader.rooms.process import ProcessRooms  # noqa: PLC0415

    opened = early.take("local") or ProcessRooms()
    if ahead:
        opened.open_ahead()
    return opened


def _containers(limits: Limits, *, ahead: bool) -> Rooms:
    if not engine_likely(os.environ):  # told without importing the SDK
        raise RoomError(
            f"No container engine listens on {_SOCKET}.",
            reason="open",
            help="Start Docker (or Podman's socket), or set DOCKER_HOST if it listens elsewhere;"
            " --runner local needs no engine.",
        )
    from grader.carried import Limits  # noqa: PLC0415 - one kind is used
    from grader.rooms import early  # noqa: PLC0415
    from grader.rooms.container import ContainerRooms  # noqa: PLC0415

    opened = early.take("docker") if limits == Limits() else None
    opened = opened or ContainerRooms(limits=limits)
    if ahead:
        opened.open_ahead()
    return opened
