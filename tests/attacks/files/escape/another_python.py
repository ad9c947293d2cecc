"""Starts a Python of its own, outside of everything that was put around this one."""

import subprocess
import sys

_ran = subprocess.run([sys.executable, "-c", "import os; print(os.getuid(), os.getppid() > 1)"],
                      capture_output=True, text=True, timeout=5)
assert not _ran.stdout.startswith("0 "), _ran.stdout
