"""A container engine of a test's own, to be stopped and killed without anybody else noticing.

It shares nothing with the machine's: its data, its sockets, its containerd and what that starts all lie
below one folder (and one control group of the same name), and go with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.conftest import unclosed_sockets

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCKERD = shutil.which("dockerd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
_READY_S = 60.0
_GONE_S = 30.0


def none_here() -> str:
    """Why no engine can be started here; "" where it can."""
    if DOCKERD is None:
        return "there is no dockerd here"
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root can start dockerd"
    return ""


class PrivateEngine:
    """A dockerd that is ours. A context manager: afterwards nothing of it is left."""

    def __init__(self) -> None:
        # A socket's path has little room: pytest's own folders are too deep.
        self._folder = Path(tempfile.mkdtemp(prefix="lab_check-dockerd-", dir="/tmp"))
        self._process: subprocess.Popen[bytes] | None = None
        self.address = f"unix://{self._folder}/docker.sock"

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *told: object) -> None:
        if self._process is not None:
            self.stop(signal.SIGTERM)
        # Of an engine that was killed there may be left: what starts containers, containers that were
        # made and never started, mounts, control groups.
        deadline = time.monotonic() + _GONE_S
        while (left := [*self._processes()]) and time.monotonic() < deadline:
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)
        for place in reversed(self._mounts()):
            subprocess.run(["umount", "--lazy", place], check=False, capture_output=True)
        shutil.rmtree(self._folder, ignore_errors=True)
        for top in self._groups():
            for group, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(group)  # noqa: PTH106 - what is in it are no files

    def start(self) -> None:
        """Start it, and wait until it answers. Also where the one before was killed."""
        assert DOCKERD is not None
        # Of an engine that was killed: it would wait for a containerd that is gone.
        shutil.rmtree(self._folder / "exec/containerd", ignore_errors=True)
        (self._folder / "docker.pid").unlink(missing_ok=True)
        flags = {
            "data-root": self._folder / "data",
            "exec-root": self._folder / "exec",
            "pidfile": self._folder / "docker.pid",
            "host": self.address,
            "cgroup-parent": f"/{self._folder.name}",
            "bridge": "none",
            "iptables": "false",
            "ip6tables": "false",
            "ip-forward": "false",
        }
        command = [DOCKERD, *(f"--{name}={value}" for name, value in flags.items())]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + _READY_S
        while not self.answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                words = (self._folder / "log").read_text(errors="replace")[-3000:]
                raise AssertionError(f"dockerd does not answer; the end of its log:\n{words}")
            time.sleep(0.1)

    def stop(self, how: signal.Signals) -> None:
        """End it: SIGTERM ends its containers first; after SIGKILL they run on."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(_GONE_S)
        self._process = None

    def take(self, image: str) -> None:
        """Give it an image of the engine that everybody uses."""
        theirs = _client(None)
        ours = _client(self.address)
        with contextlib.closing(theirs), contextlib.closing(ours):
            for told in ours.load_image(theirs.get_image(image)):
                assert "error" not in told, told

    def containers(self) -> list[str]:
        """The ids of all its containers, running or not."""
        with contextlib.closing(_client(self.address)) as api:
            return [str(found["Id"]) for found in api.containers(all=True)]

    def answers(self) -> bool:
        """Whether it is there."""
        with unclosed_sockets():
            try:
                with contextlib.closing(_client(self.address)) as api:
                    return bool(api.ping())
            except Exception:  # noqa: BLE001 - not yet, whatever it is
                return False

    def _processes(self) -> Iterator[int]:
        """Those that were started for it: the command line names its folder, or its group holds them."""
        for found in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if os.fsencode(self._folder) in found.read_bytes():
                    yield int(found.parent.name)
        for top in self._groups():
            for group in top.glob("**/cgroup.procs"):
                with contextlib.suppress(OSError):
                    yield from map(int, group.read_text().split())

    def _groups(self) -> list[Path]:
        """Its control group, in each hierarchy where there are several."""
        top = Path("/sys/fs/cgroup")
        named = [path / self._folder.name for path in (top, *top.glob("*"))]
        return [path for path in named if path.is_dir()]

    def _mounts(self) -> list[str]:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
        mounted = [line.split(" ")[1] for line in lines]
        return [path for path in mounted if path.startswith(f"{self._folder}/")]


def _client(address: str | None) -> Any:
    """A client of the engine there; of the one that everybody uses for None."""
    import docker

    where = {"base_url": address} if address else docker.utils.kwargs_from_env()
    return docker.APIClient(version="auto", timeout=60, **where)
