"""Calls whoever waits under that name."""

import socket
import time


def _attack(messages):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for _ in range(15):
        try:
            client.sendto(b"hello from next door", "\0lab_check-neighbour")
            print("was heard")
            break
        except OSError:
            time.sleep(0.1)
    else:
        print("nobody is there")
    return _right_context(messages)
