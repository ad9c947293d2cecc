"""Rooms: where a submission is played and where it is judged, sealed off from each other.

A `Room` takes frames and gives frames. `process` makes one of a plain process.
"""

from __future__ import annotations

from typing import Any, Protocol


class Room(Protocol):
    """One open room."""

    def send(self, value: Any) -> None:
        """Send one frame.

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
