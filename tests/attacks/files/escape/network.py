"""Reaches for the network, names, and whatever listens on this machine."""

import os
import socket

assert set(os.listdir("/sys/class/net")) <= {"lo"}, os.listdir("/sys/class/net")
for _kind, _address in ((socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET, ("127.0.0.1", 22)),
                        (socket.AF_INET6, ("2001:db8::1", 80)), (socket.AF_UNIX, "/var/run/docker.sock")):
    for _how in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(_kind, _how) as _s:
                _s.settimeout(1)
                _s.connect(_address)
                _s.send(b"x")
                if _how == socket.SOCK_DGRAM and _address[0] == "127.0.0.1":
                    _s.recv(1)  # its own loopback takes it; is anybody there?
        except OSError:
            continue
        raise AssertionError(f"reached {_address}")
for _kind in (socket.AF_PACKET, 40):
    try:
        socket.socket(_kind, socket.SOCK_RAW)
    except OSError:
        continue
    raise AssertionError(_kind)
