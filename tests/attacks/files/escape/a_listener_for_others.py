"""Waits under a name that every process of a machine could know, and reports who calls."""

import os
import socket

_server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
_server.settimeout(1.5)


def _attack(messages):
    _server.bind("\0lab_check-neighbour")
    try:
        print("heard:", _server.recv(100))
    except TimeoutError:
        print("nobody called")
    return _right_context(messages)
