"""Looks for programs that run as root whoever starts them, and starts them."""

import os
import subprocess

for _folder in ("/bin", "/usr/bin", "/sbin", "/usr/sbin"):
    for _name in os.listdir(_folder) if os.path.isdir(_folder) else []:
        _path = os.path.join(_folder, _name)
        try:
            _mode = os.stat(_path).st_mode
        except OSError:
            continue
        if _mode & 0o6000 and _name in ("su", "mount", "newgrp", "passwd", "gpasswd", "chsh"):
            _ran = subprocess.run(["grep", "NoNewPrivs", "/proc/self/status"], capture_output=True, text=True)
            assert _ran.stdout.split()[-1:] == ["1"] or _ran.returncode, _ran.stdout
