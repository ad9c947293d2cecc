"""The line to a container's standard streams: one socket, both ways, kept open by the engine.

Attached before the container starts, so that nothing of it can be missed. Without a terminal the engine
puts eight bytes in front of every piece: which stream, and how long.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_HEADER = struct.Struct(">BxxxI")
_STDOUT, _STDERR = 1, 2
_PATIENCE_S = 30.0  # for a room to take what it is sent
_STDERR_KEPT = 4 << 10
_AT_ONCE = 64 << 10  # bytes; a header, a frame's length and the frame come together
STREAMS = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}


class Line:
    """A room's standard input and output.

    Args:
        attached: what the SDK's `attach_socket` gave.
    """

    def __init__(self, attached: Any) -> None:
        # Of a unix or TCP socket the SDK hands out the reading half only; the socket is beneath it.
        # Of TLS, ssh and a named pipe it hands out the thing itself.
        self._attached = attached
        self._socket = getattr(attached, "_sock", attached)
        self._socket.settimeout(_PATIENCE_S)
        self._ahead = b""  # received, and not read yet
        self._left = 0  # of the piece that is being read
        self._kind = _STDOUT
        self._stderr = bytearray()
        self.ended = False  # the other end is gone, wherever in a frame that was
        self.closed = False  # this end is

    def send(self, data: bytes) -> None:
        """Send all of `data`.

        Raises:
            OSError: the other end is gone, or has not taken it in 30 s.
        """
        self._socket.sendall(data)

    def read(self, count: int) -> bytes:
        """Up to `count` bytes of what the room wrote to its standard output; b"" when it has ended."""
        while True:
            if not self._left and not self._next_piece():
                return b""
            data = self._receive(min(count if self._kind == _STDOUT else 4096, self._left))
            self._left -= len(data)
            if self._kind == _STDOUT or not data:
                return data
            self._stderr += data
            del self._stderr[:-_STDERR_KEPT]

    @property
    def last_words(self) -> str:
        """The last line that the room wrote to its standard error."""
        return self._stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]

    def close(self) -> None:
        """Let go of the socket; a thread that reads from it sees the end."""
        self.closed = True
        with contextlib.suppress(OSError, AttributeError):
            self._socket.shutdown(socket.SHUT_RDWR)
        response = getattr(self._attached, "_response", None)
        for thing in (response, self._attached, self._socket):
            if thing is not None:
                with contextlib.suppress(OSError, ValueError):  # they close each other
                    thing.close()

    def _next_piece(self) -> bool:
        while not self._left:
            header = b""
            while len(header) < _HEADER.size:
                part = self._receive(_HEADER.size - len(header))
                if not part:
                    return False
                header += part
            self._kind, self._left = _HEADER.unpack(header)
        return True

    def _receive(self, count: int) -> bytes:
        """Up to `count` bytes of what came over the line; b"" when it has ended."""
        if not self._ahead:
            self._ahead = self._take()
        data, self._ahead = self._ahead[:count], self._ahead[count:]
        return data

    def _take(self) -> bytes:
        receive: Callable[[int], bytes] = self._socket.recv
        while not self.closed:
            try:
                data = receive(_AT_ONCE)
            except TimeoutError:
                continue  # a room may be silent; how long is for `Room.receive` to say
            except (OSError, ValueError):
                break
            if data:
                return data
            break
        self.ended = True
        return b""
