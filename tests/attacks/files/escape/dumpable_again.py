"""Makes itself dumpable and immune to being the first one ended when memory runs out."""

import ctypes
import os

ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
for _process in ("self", os.getppid()):
    for _value in ("-1000", "0"):
        try:
            with open(f"/proc/{_process}/oom_score_adj", "w") as _file:
                _file.write(_value)
        except OSError:
            pass
    try:
        _score = int(open(f"/proc/{_process}/oom_score_adj").read())
    except OSError:
        continue
    assert _process != "self" or _score >= 0, _score
