"""Gradings in real containers: the same verdicts as in plain processes, and nothing to reach from inside.

Code in here that means harm runs in containers only, never in a plain process.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader import grade, lessons
from grader.records import Limits, Report, to_json
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes

if TYPE_CHECKING:
    from grader.rooms.container import ContainerRooms

pytestmark = pytest.mark.docker

HERE = Path(__file__).parent.parent
SOLUTION = (HERE / "solutions" / "lesson_10" / "harness.py").read_text(encoding="utf-8")
RIGHT = sorted((HERE / "solutions" / "lesson_10").glob("*.py"))
QUICK = Limits(scene_cpu_s=1, scene_wall_s=1.5, hurried_wall_s=1.0)
# One line of the solution that gets another, each for a rule of its own.
CHANGED = {
    "nothing changed": ("", ""),
    "no repair": ("def repair_tool_history(messages):", "def _was(messages):"),
    "the newest wins": ("for message in reversed(messages):", "for message in messages:"),
    "a slip": ("    view = []", "    viwe = []"),
    "not Python": ("def repair_tool_history(messages):", "def repair_tool_history(messages:"),
    "not importable": (
        "def repair_tool_history(messages):",
        "import nothing_of_that_name\ndef x():",
    ),
}
ONE = ["missing_result", "orphan_result", "late_result", "duplicate_result"]
ON_ORPHAN = """
_right = repair_tool_history
def repair_tool_history(messages):
    if any("orphan" in repr(m) or m.get("call_id") == "c7" for m in messages) or _called("c7", messages):
        _harm()
    return _right(messages)
def _called(name, messages):
    return repr(name) in repr(messages)
"""


def plain(report: Report) -> dict[str, Any]:
    """A report without what may differ between two runs and runners."""
    data: dict[str, Any] = to_json(report)
    for name in ("started_at", "duration_s"):
        del data[name]
    for name in ("image", "runner", "python"):
        del data["grader"][name]
    for test in data["tests"]:
        del test["duration_s"]
    return data


def in_container(extra: str, rooms: ContainerRooms, **options: Any) -> Report:
    source = f"{SOLUTION}\n{textwrap.dedent(extra)}\n"
    return grade(from_bytes(source.encode()), 10, rooms=rooms, **options)


def told(report: Report) -> dict[str, str]:
    return {t.id: f"{t.kind}: {t.message}" for t in report.tests if t.outcome != "pass"}


@pytest.mark.parametrize("path", RIGHT, ids=[path.stem for path in RIGHT])
def test_a_right_answer_passes(path: Path, containers: ContainerRooms) -> None:
    report = grade(path, 10, rooms=containers)
    assert (told(report), report.verdict, report.problem) == ({}, "pass", None)
    assert report.score.points == len(lessons.find(10).tests)
    assert report.grader.runner == "docker"
    assert (report.grader.image or "").startswith("sha256:")


@pytest.mark.parametrize("name", CHANGED)
def test_both_runners_say_the_same(name: str, containers: ContainerRooms) -> None:
    line, other = CHANGED[name]
    assert line in SOLUTION
    submission = from_bytes(SOLUTION.replace(line, other, 1 if line else 0).encode())
    local = grade(submission, 10, rooms=ProcessRooms())
    sealed = grade(submission, 10, rooms=containers)
    assert plain(sealed) == plain(local)
    assert (sealed.verdict == "pass") is (not line)


def test_both_runners_say_the_same_of_the_starter(containers: ContainerRooms) -> None:
    starter = lessons.find(10).starter
    assert starter is not None
    local, sealed = grade(starter, 10, rooms=ProcessRooms()), grade(starter, 10, rooms=containers)
    assert plain(sealed) == plain(local)


# --- from inside -----------------------------------------------------------------------------------

SEALED = {
    "the network is out of reach": """
        import os, socket
        assert set(os.listdir("/sys/class/net")) <= {"lo"}, os.listdir("/sys/class/net")
        for kind, address in ((socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("2001:db8::1", 80))):
            for how in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                try:
                    s = socket.socket(kind, how); s.settimeout(1); s.connect(address)
                except OSError: continue
                raise AssertionError(f"reached {address}")
        try: socket.getaddrinfo("example.com", 80)
        except OSError: pass
        else: raise AssertionError("a name was resolved")
    """,
    "nothing can be written": """
        import os
        for folder, folders, files in os.walk("/"):
            if folder == "/": folders[:] = [f for f in folders if f not in ("proc", "sys")]
            for path in [folder + "/left-behind"]:
                try: open(path, "w")
                except OSError: continue
                raise AssertionError("wrote " + path)
            for name in files[:50]:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and os.access(path, os.W_OK): raise AssertionError(path)
        for path in ("/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/sys/fs/cgroup/x", "/dev/mem"):
            try: open(path, "w")
            except OSError: continue
            raise AssertionError("opened " + path)
    """,
    "there are no privileges": """
        import os
        assert os.getuid() == os.geteuid() == os.getgid() == 65534
        for line in open("/proc/self/status"):
            name, _, value = line.partition(":")
            if name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb"): assert int(value, 16) == 0, line
            if name == "NoNewPrivs": assert value.strip() == "1"
            if name == "Seccomp": assert value.strip() == "2"
        for call in (lambda: os.setuid(0), lambda: os.chroot("/"), lambda: os.nice(-1),
                     lambda: os.mknod("/dev/x")):
            try: call()
            except OSError: continue
            raise AssertionError("allowed")
    """,
    "the stage is closed": """
        import os
        assert os.getppid() == 1
        for name in ("mem", "environ", "fd", "maps", "root", "cwd", "exe", "auxv", "stack"):
            path = "/proc/1/" + name
            try:
                if os.path.isdir(path): os.listdir(path)
                elif name in ("root", "cwd", "exe"): os.readlink(path)
                else: open(path, "rb").read(1)
            except OSError: continue
            raise AssertionError("read " + path)
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.ptrace(16, 1, 0, 0) == -1
    """,
    "no descriptor is left open": """
        import os
        fds = set()
        for fd in range(256):
            try: os.fstat(fd)
            except OSError: continue
            fds.add(fd)
        assert fds == {0, 1, 2, 3}, fds
    """,
    "nothing of a lesson is there": """
        import os
        words = [a + b for a, b in (("missing_", "result"), ("newest", "-wins"), ("lesson", "_10"))]
        places = [where for top in ("/opt", "/tmp", "/home", "/srv", "/var/tmp") for where in os.walk(top)]
        for folder, folders, files in places:
            for name in files:
                try: data = open(os.path.join(folder, name), "rb").read()
                except OSError: continue
                found = [w for w in words if w.encode() in data]
                assert not found, (folder, name, found)
    """,
    "no memory outlives a process": """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.shmget(0, 4096, 0o1600) < 0
        assert libc.msgget(0, 0o1600) < 0
        assert libc.semget(0, 1, 0o1600) < 0
        assert not os.path.exists("/dev/shm")
    """,
    "signals to the stage are lost": """
        import os
        for number in (1, 2, 3, 6, 9, 10, 11, 15, 17, 19, 20):
            try: os.kill(1, number)
            except OSError: pass
        try: os.kill(-1, 19)
        except OSError: pass
    """,
    "nothing of an earlier scene is running": """
        import os, time
        others = [p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]
        assert not others, others
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    while True: time.sleep(1)
                os._exit(0)
        os.wait(); os.wait(); os.wait()
    """,
}


@pytest.mark.parametrize("name", SEALED)
def test_a_room_is_sealed(name: str, containers: ContainerRooms) -> None:
    body = textwrap.indent(textwrap.dedent(SEALED[name]), "    ")
    report = in_container(f"\ndef _look():\n{body}\n_look()\n", containers, tests=ONE[:3])
    problem = report.problem.message if report.problem else ""
    assert (problem, told(report), report.verdict) == ("", {}, "pass")


HARM = {
    "out of memory in one process": ("x = []\nwhile True: x.append(bytearray(1 << 20))", "memory"),
    "out of memory that no limit of a process counts": (
        "import mmap\nm = mmap.mmap(-1, 700 << 20)\nfor i in range(0, 700 << 20, 4096): m[i] = 1",
        "memory",
    ),
    "a fork bomb": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "timeout",
    ),
    "a stop sent to everything": ("import os\nos.kill(0, 19)", "timeout"),
    "a fork that holds on to the pipes": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\nos._exit(0)",
        "crash",
    ),
}


@pytest.mark.parametrize("name", HARM)
def test_harm_costs_one_test_and_no_more(name: str, containers: ContainerRooms) -> None:
    code, kind = HARM[name]
    harm = "def _harm():\n" + textwrap.indent(code, "    ") + "\n" + ON_ORPHAN
    report = in_container(harm, containers, limits=QUICK, tests=ONE)
    hit = [t for t in report.tests if t.outcome != "pass"]
    assert [(t.id, t.outcome, t.kind) for t in hit] == [("orphan_result", "fail", kind)]


def test_a_seal_leaves_nothing_behind(containers: ContainerRooms) -> None:
    """Two gradings with the same rooms do not share a stage."""
    first = containers.open_stage()
    second = containers.open_stage()
    first._opening.join()
    second._opening.join()
    assert first.container != second.container
    for room in (first, second):
        room.close()
        room.join()
