"""A thread that waits until the answer is under way and sends another behind it."""

import json
import os
import struct
import sys
import threading
import time


def _attack(messages):
    def write():
        body = json.dumps({"observation": []}).encode()
        while True:
            try:
                os.write(3, struct.pack(">I", len(body)) + body)
            except OSError:
                time.sleep(0.0001)

    sys.setswitchinterval(1e-6)
    threading.Thread(target=write, daemon=True).start()
    time.sleep(0.05)
    return _right(messages)
