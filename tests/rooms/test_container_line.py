"""The line to a container: pieces with headers, cut anywhere; and what became of a room that is gone."""

from __future__ import annotations

import queue
import socket
import struct
import threading
from typing import TYPE_CHECKING, Any

import pytest

from grader import wire
from grader.errors import RoomError, WireError
from grader.rooms import engine as engines
from grader.rooms.attach import Line
from grader.rooms.container import ContainerRoom, fate

if TYPE_CHECKING:
    from collections.abc import Iterator

Pair = tuple[Line, socket.socket]


def piece(data: bytes, stream: int = 1) -> bytes:
    return struct.pack(">BxxxI", stream, len(data)) + data


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    line = Line(ours)
    yield line, theirs
    line.close()
    theirs.close()


def test_a_frame_may_come_in_any_pieces(pair: Pair) -> None:
    line, room = pair
    frame = wire.encode({"text": "x" * 300})
    for at in range(0, len(frame), 7):
        room.sendall(piece(frame[at : at + 7]))
        room.sendall(piece(b""))
    assert wire.read_frame(line.read) == {"text": "x" * 300}


def test_standard_error_is_kept_apart(pair: Pair) -> None:
    line, room = pair
    frame = wire.encode([1, 2])
    room.sendall(piece(frame[:3]) + piece(b"Traceback:\nKeyError: 1\n", 2) + piece(frame[3:]))
    assert wire.read_frame(line.read) == [1, 2]
    assert line.last_words == "KeyError: 1"


def test_a_flood_on_standard_error_is_not_kept(pair: Pair) -> None:
    line, room = pair
    sender = threading.Thread(
        target=lambda: room.sendall(piece(b"y" * 2_000_000, 2) + piece(wire.encode(None)))
    )
    sender.start()
    assert wire.read_frame(line.read) is None
    sender.join()
    assert len(line._stderr) <= 4096


@pytest.mark.parametrize("kept", range(20))
def test_a_cut_anywhere_is_the_end_of_the_line(pair: Pair, kept: int) -> None:
    line, room = pair
    whole = piece(wire.encode("0123456789"))
    room.sendall(whole[:kept])
    room.close()
    with pytest.raises((EOFError, WireError)):
        wire.read_frame(line.read)
    assert line.ended


def test_a_reset_is_an_end_too(pair: Pair) -> None:
    line, room = pair
    room.close()
    whole, line._socket = line._socket, _Broken()
    assert line.read(1) == b""
    assert line.ended
    line._socket = whole


class _Broken:
    def recv(self, _count: int) -> bytes:
        raise ConnectionResetError


def test_silence_is_waited_out(pair: Pair) -> None:
    line, room = pair
    line._socket.settimeout(0.01)
    timer = threading.Timer(0.1, lambda: room.sendall(piece(wire.encode(1))))
    timer.start()
    assert wire.read_frame(line.read) == 1
    timer.join()


def test_closing_wakes_a_reader(pair: Pair) -> None:
    line, _room = pair
    got: queue.Queue[bytes] = queue.Queue()
    reader = threading.Thread(target=lambda: got.put(line.read(1)))
    reader.start()
    line.close()
    line.close()
    assert got.get(timeout=5) == b""
    reader.join()


def test_what_wraps_a_socket_is_written_through() -> None:
    ours, theirs = socket.socketpair()
    line = Line(socket.SocketIO(ours, "rb"))  # what the SDK hands out for a unix socket
    line.send(b"hello")
    assert theirs.recv(5) == b"hello"
    line.close()
    ours.close()
    theirs.close()


@pytest.mark.parametrize(
    ("state", "reason", "says"),
    [
        (None, "engine", "removed from outside"),
        ({"Running": True}, "engine", "was cut"),
        ({"Running": False, "ExitCode": 137, "OOMKilled": True}, "memory", "out of memory"),
        ({"Running": False, "ExitCode": 137, "OOMKilled": False}, "engine", "killed from outside"),
        ({"Running": False, "ExitCode": 0}, "engine", "was cut"),
        ({"Running": False, "ExitCode": 1}, "died", "exit status 1"),
        ({"Running": False, "ExitCode": 139}, "died", "exit status 139"),
    ],
)
def test_only_what_a_submission_can_do_is_held_against_it(
    state: dict[str, Any] | None, reason: str, says: str
) -> None:
    fault = fate("stage", state, "boom")
    assert fault.reason == reason
    assert says in fault.message
    assert ("boom" in fault.message) is (reason == "died")
    assert bool(fault.help) is (reason == "engine")


class _Api:
    """An engine that does as it is told by a test."""

    def __init__(self, line: socket.socket, states: list[Any]) -> None:
        self.line, self.states, self.removed = line, states, list[str]()

    def create_host_config(self, **_: Any) -> dict[str, Any]:
        return {}

    def create_container(self, *_: Any, **__: Any) -> dict[str, str]:
        return {"Id": "abc"}

    def attach_socket(self, *_: Any) -> socket.socket:
        return self.line

    def start(self, _container: str) -> None:
        pass

    def inspect_container(self, _container: str) -> dict[str, Any]:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(state, Exception):
            raise state
        return {"State": state}

    def remove_container(self, container: str, **_: Any) -> None:
        self.removed.append(container)


class _Engine:
    def __init__(self, api: _Api) -> None:
        self.api = api

    def client(self, _timeout_s: float = 1.0) -> Any:
        import contextlib

        @contextlib.contextmanager
        def client() -> Iterator[_Api]:
            try:
                yield self.api
            except OSError as exc:
                raise engines.explained(exc) from exc

        return client()


def opened(states: list[Any]) -> tuple[ContainerRoom, socket.socket, _Api]:
    pytest.importorskip("docker")
    ours, theirs = socket.socketpair()
    api = _Api(ours, states)
    room = ContainerRoom(_Engine(api), "stage", "image", {}, trusted=False)  # type: ignore[arg-type]
    return room, theirs, api


def test_what_is_sent_before_a_room_is_open_is_kept() -> None:
    room, theirs, api = opened([{"Running": True}])
    room.send({"a": 1})
    room.send({"b": 2})
    stream = theirs.makefile("rb")
    assert wire.read_frame(stream.read) == {"a": 1}
    assert wire.read_frame(stream.read) == {"b": 2}
    theirs.sendall(piece(wire.encode("yes")))
    assert room.receive(5) == "yes"
    room.close()
    room.close()
    room.join()
    assert room.gone
    assert api.removed == ["abc"]
    stream.close()
    theirs.close()


@pytest.mark.parametrize("cut_at", [0, 3, 9, 20])
def test_a_cut_in_a_frame_is_never_the_submissions_broken_frame(cut_at: int) -> None:
    room, theirs, _api = opened([{"Running": True}, {"Running": False, "ExitCode": 137}])
    room.send(None)
    theirs.recv(100)
    theirs.sendall(piece(wire.encode("a frame of the stage"))[:cut_at])
    theirs.close()
    with pytest.raises(RoomError) as told:
        room.receive(5)
    assert told.value.reason == "engine"
    room.close()
    room.join()


def test_a_frame_over_the_limit_is_a_broken_frame() -> None:
    room, theirs, _api = opened([{"Running": True}])
    too_many = 2 * wire.MAX_FRAME + 1
    theirs.sendall(piece(struct.pack(">I", too_many)))
    with pytest.raises(WireError, match=f"{too_many} bytes"):
        room.receive(5)
    room.close()
    room.join()
    theirs.close()


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"Running": True}, "silent"),
        ({"Running": True, "Paused": True}, "engine"),
        (ConnectionRefusedError(111, "Connection refused"), "engine"),
    ],
)
def test_silence_is_looked_into(state: Any, reason: str) -> None:
    room, theirs, _api = opened([state])
    with pytest.raises(RoomError) as told:
        room.receive(0.01)
    assert told.value.reason == reason
    room.close()
    room.join()
    theirs.close()


def test_sending_into_a_room_that_is_gone() -> None:
    room, theirs, _api = opened([{"Running": False, "ExitCode": 1}])
    room.send(1)
    theirs.recv(100)
    theirs.close()
    with pytest.raises(RoomError) as told:
        room.send("x" * 10_000_000)
    assert told.value.reason == "died"
    room.close()
    room.join()


def test_a_room_that_fails_to_open_says_so_to_whoever_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def start(_self: _Api, _container: str) -> None:
        raise ValueError("an answer that the SDK does not understand")

    monkeypatch.setattr(_Api, "start", start)
    room, theirs, api = opened([{"Running": False, "ExitCode": 0}])
    with pytest.raises(RoomError, match="does not understand") as told:
        room.receive(5)
    assert told.value.reason == "open"
    with pytest.raises(RoomError):
        room.send(1)
    room.close()
    room.join()
    assert api.removed == ["abc"]
    theirs.close()


def test_a_room_that_nobody_reads_from_can_be_closed() -> None:
    room, theirs, api = opened([{"Running": True}])
    for _ in range(20):
        theirs.sendall(piece(wire.encode(1)))
    room.close()
    room.join()
    assert api.removed == ["abc"]
    theirs.close()
