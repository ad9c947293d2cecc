"""Whatever descriptor is open: read from, listed, and opened anew by way of /proc."""

import os
import select


def _attack(messages):
    for fd in range(4, 1024):
        try:
            os.fstat(fd)
        except OSError:
            continue
        print("open:", fd)
        if select.select([fd], [], [], 0.05)[0]:
            print(os.read(fd, 1 << 16).decode("latin-1"))
    for process in ("self", "1", os.getppid()):
        for n in range(40):
            if process == "self" and n < 4:
                continue
            try:
                fd = os.open(f"/proc/{process}/fd/{n}", os.O_RDONLY | os.O_NONBLOCK)
                print(os.read(fd, 1 << 16).decode("latin-1"))
            except OSError:
                continue
    return _right_context(messages)
