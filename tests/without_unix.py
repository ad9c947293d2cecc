"""An interpreter from which everything is taken that Windows doesn't have, and so are those it starts.

The standard library's own ways of starting processes keep what they need: it is our own code that has to
do without. `sys.platform` is none that is known, so that what is done for Linux or macOS only is left out.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

_WITHOUT = """
import os, select, shutil, signal, subprocess, sys, tempfile, threading, types

# The standard library itself goes on with the whole of them: on Windows it has other means.
for _user in (subprocess, shutil, tempfile):
    for _name, _module in list(vars(_user).items()):
        if _module in (os, signal):
            _copy = types.ModuleType(_module.__name__)
            vars(_copy).update(vars(_module))
            setattr(_user, _name, _copy)

# Modules that Windows doesn't have.
for _name in ("resource", "fcntl", "pwd", "grp", "pty", "tty", "termios", "readline", "syslog", "spwd",
              "curses", "nis", "crypt", "posixshmem", "_posixshmem"):
    sys.modules[_name] = None

# Names that it doesn't have.
_GONE = {
    os: '''fork forkpty posix_spawn posix_spawnp register_at_fork setsid getsid setpgid getpgid getpgrp setpgrp
        killpg wait wait3 wait4 waitid pidfd_open WNOHANG WUNTRACED P_ALL P_PID getuid geteuid getgid getegid
        setuid seteuid setgid setegid setreuid setresuid getresuid getgroups setgroups initgroups chown lchown
        fchown fchmod mkfifo mknod uname nice getpriority setpriority PRIO_PROCESS PRIO_PGRP PRIO_USER
        sched_getaffinity sched_setaffinity sched_yield getloadavg statvfs fstatvfs openpty ctermid ttyname
        tcgetpgrp tcsetpgrp sysconf confstr chroot sync set_blocking get_blocking pipe2 pread pwrite lockf
        O_NONBLOCK O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_SYNC O_NOCTTY memfd_create eventfd sendfile''',
    signal: '''SIGKILL SIGXCPU SIGXFSZ SIGHUP SIGCHLD SIGALRM SIGPIPE SIGSTOP SIGCONT SIGTSTP SIGQUIT SIGUSR1
        SIGUSR2 SIGWINCH SIGURG alarm pause setitimer getitimer pthread_kill pthread_sigmask sigwait
        siginterrupt sigpending sigtimedwait sigwaitinfo''',
    select: "poll epoll kqueue",
}
for _module, _names in _GONE.items():
    for _name in _names.split():
        if hasattr(_module, _name):
            delattr(_module, _name)

# What it has, but not for this.
def _sockets_only(*_):
    raise OSError(10038, "An operation was attempted on something that is not a socket")
select.select = _sockets_only

_signal = signal.signal
def _few_signals(number, handler):
    if number not in (signal.SIGINT, signal.SIGTERM, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV):
        raise ValueError("invalid signal value")
    return _signal(number, handler)
signal.signal = _few_signals

subprocess.Popen.kill = subprocess.Popen.terminate = lambda self: self.send_signal(9)
sys.platform = "elsewhere"
sys.executable = {executable!r}
"""


class WithoutUnix:
    """Runs code in such an interpreter.

    Args:
        folder: where its parts are put.
    """

    def __init__(self, folder: Path) -> None:
        # What our rooms start is `python -I -S -c CODE`: they get to see this in its place.
        self._executable = folder / "python"
        self._prelude = folder / "without_unix.py"
        run = f"import sys; exec(open({str(self._prelude)!r}).read()); exec(sys.argv.pop(1))"
        words = shlex.join([sys.executable, "-I", "-S", "-c", run])
        self._executable.write_text(f'#!/bin/sh\nexec {words} "$4"\n', encoding="utf-8")
        self._executable.chmod(0o755)
        text = _WITHOUT.replace("{executable!r}", repr(str(self._executable)))
        self._prelude.write_text(text, encoding="utf-8")

    def run(self, code: str) -> subprocess.CompletedProcess[str]:
        """Run `code` with our own tree on its path."""
        whole = f"exec(open({str(self._prelude)!r}).read())\n{code}"
        return subprocess.run(
            [sys.executable, "-c", whole],
            cwd=ROOT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
