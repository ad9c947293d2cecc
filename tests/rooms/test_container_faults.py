"""What goes wrong around a grading, with a real engine: none of it is the submission's fault.

The engine's going away is played by a proxy in front of it, so that nobody else's containers suffer.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader import grade
from grader.errors import RoomError
from grader.records import Limits, Report
from grader.rooms import doctor, sweeping
from grader.rooms import engine as engines
from grader.rooms.container import ContainerRooms
from grader.rooms.engine import Engine
from grader.rooms.flags import container_flags
from grader.submission import from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.docker

HERE = Path(__file__).parent.parent
SOLUTION = (HERE / "solutions" / "lesson_10" / "harness.py").read_text(encoding="utf-8")
# The first test passes; while the second is played, something happens to the stage.
SLOW = f"""{SOLUTION}
import time
_right = repair_tool_history
def repair_tool_history(messages):
    if "c7" in repr(messages):
        time.sleep(3)
    return _right(messages)
"""
TESTS = ["missing_result", "orphan_result", "late_result"]
QUICK = Limits(scene_wall_s=4)


def mine(engine: Engine) -> list[dict[str, Any]]:
    """Containers of this project that this process owns."""
    with engine.client() as api:
        return [
            found
            for found in sweeping._ours(api)
            if found["Labels"].get(sweeping.OWNER) == str(sweeping.this_process())
        ]


def while_grading(rooms: ContainerRooms, happens: Callable[[Any, str], None]) -> Report:
    """Grade SLOW, and let something happen to the stage in the middle of its second test."""
    stages: list[str] = []
    original = rooms.open_stage

    def open_stage() -> Any:
        room = original()
        room._opening.join()
        assert room.container
        stages.append(room.container)
        return room

    rooms.open_stage = open_stage  # type: ignore[method-assign]

    def later() -> None:
        time.sleep(2)
        with Engine().client() as api:
            happens(api, stages[-1])

    thread = threading.Thread(target=later)
    thread.start()
    try:
        return grade(from_bytes(SLOW.encode()), 10, rooms=rooms, limits=QUICK, tests=TESTS)
    finally:
        thread.join()
        del rooms.open_stage


@pytest.mark.parametrize(
    ("happens", "says"),
    [
        (lambda api, stage: api.kill(stage), "killed from outside"),
        (lambda api, stage: api.remove_container(stage, force=True), "from outside"),
        (lambda api, stage: api.stop(stage, timeout=0), "killed from outside"),
    ],
    ids=["killed", "removed", "stopped"],
)
def test_a_container_that_others_end_is_no_submissions_fault(
    happens: Callable[[Any, str], None], says: str
) -> None:
    with ContainerRooms(limits=QUICK) as rooms:
        report = while_grading(rooms, happens)
    assert report.verdict == "error"
    assert [t.outcome for t in report.tests] == ["pass", "error", "error"]
    assert says in " ".join(t.message for t in report.tests)


def test_a_container_that_others_freeze_is_no_submissions_fault() -> None:
    with ContainerRooms(limits=QUICK) as rooms:
        report = while_grading(rooms, lambda api, stage: api.pause(stage))
    assert report.verdict == "error"
    assert "paused from outside" in " ".join(t.message for t in report.tests)
    assert not mine(Engine())


class Proxy:
    """Between client and engine; can be made to lose everything, as if the engine had gone.

    Args:
        path: of its socket.
        engine: of the engine's.
    """

    def __init__(self, path: str, engine: str) -> None:
        self._engine = engine
        self._open: list[socket.socket] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(path)
        self._listening.listen(50)
        self.path = path
        self.cut_after: int | None = None  # bytes of an answer's, from then on
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def gone(self) -> None:
        """The engine has ended: nobody answers, and every line is cut."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with contextlib.suppress(FileNotFoundError):
            Path(self.path).unlink()
        self.cut()

    def cut(self) -> None:
        for line in self._open:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.gone()
        for thread in self._threads:
            thread.join()
        for line in self._open:
            line.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                engine = socket.socket(socket.AF_UNIX)
                engine.connect(self._engine)
                self._open += [client, engine]
                for source, target, answer in ((client, engine, False), (engine, client, True)):
                    thread = threading.Thread(target=self._pump, args=(source, target, answer))
                    self._threads.append(thread)
                    thread.start()

    def _pump(self, source: socket.socket, target: socket.socket, answer: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if answer and self.cut_after is not None:
                    target.sendall(data[: self.cut_after])
                    break
                target.sendall(data)
        for line in (source, target):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Proxy]:
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not address.startswith("unix://"):
        pytest.skip("the proxy is for an engine on a unix socket")
    proxy = Proxy(str(tmp_path / "engine.sock"), address.removeprefix("unix://"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{proxy.path}")
    yield proxy
    proxy.close()
    monkeypatch.undo()
    for found in mine(Engine()):
        with Engine().client() as api:
            engines.remove(api, found["Id"])


def graded_while(proxy_does: Callable[[], None], rooms: ContainerRooms, after_s: float) -> Report:
    timer = threading.Timer(after_s, proxy_does)
    timer.start()
    try:
        return grade(from_bytes(SLOW.encode()), 10, rooms=rooms, limits=QUICK, tests=TESTS)
    finally:
        timer.join()


@pytest.mark.usefixtures("no_engine")
def test_an_engine_that_goes_away(proxy: Proxy) -> None:
    rooms = ContainerRooms(limits=QUICK)
    report = graded_while(proxy.gone, rooms, 2)
    assert report.verdict == "error"
    assert [t.outcome for t in report.tests] == ["pass", "error", "error"]
    assert "engine is gone" in " ".join(t.message for t in report.tests)
    rooms.close()  # nothing to be done about it now: that is for the next run


def test_lines_that_are_cut(proxy: Proxy) -> None:
    with ContainerRooms(limits=QUICK) as rooms:
        report = graded_while(proxy.cut, rooms, 2)
        assert report.verdict == "error"
        assert "fail" not in {t.outcome for t in report.tests}
    assert not mine(Engine())


def test_a_line_that_is_cut_in_a_frame(proxy: Proxy) -> None:
    with ContainerRooms(limits=QUICK) as rooms:
        room = rooms.open_judge()
        room._opening.join()
        proxy.cut_after = 11  # the stream's header, and three bytes of the frame's length
        room.send(
            {"op": "open", "test_file": "test_x.py", "tests": "def test_x(): pass", "modules": {}}
        )
        with pytest.raises(RoomError) as told:
            room.receive(20)
        proxy.cut_after = None
        assert told.value.reason == "engine"
        room.close()
    assert not mine(Engine())


# --- nothing is left over --------------------------------------------------------------------------

CLIENT = """
import sys, threading
from grader import grade
from grader.rooms.container import ContainerRooms
from grader.submission import from_bytes
rooms = ContainerRooms()
text = open(sys.argv[1]).read()
for _ in range(2):
    threading.Thread(target=lambda: grade(from_bytes(text.encode()), 10, rooms=rooms)).start()
"""


def owned_by(pid: int) -> list[dict[str, Any]]:
    with Engine().client() as api:
        found = sweeping._ours(api)
    owners = [(one, sweeping.Owner.parse(one["Labels"].get(sweeping.OWNER, ""))) for one in found]
    return [one for one, owner in owners if owner is not None and owner.pid == pid]


def test_a_client_that_is_killed_leaves_nothing_after_the_next_run(tmp_path: Path) -> None:
    file = tmp_path / "harness.py"
    file.write_text(SLOW.replace("time.sleep(3)", "time.sleep(9)"), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    client = subprocess.Popen([sys.executable, "-c", CLIENT, str(file)], env=env)
    deadline = time.monotonic() + 30
    while len(owned_by(client.pid)) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(owned_by(client.pid)) == 4
    doctor.sweep()
    assert len(owned_by(client.pid)) == 4, "the sweep took what is in use"
    client.kill()
    client.wait()
    ContainerRooms().close()
    assert owned_by(client.pid) == []


def test_what_was_made_and_never_started_is_swept_too(containers: ContainerRooms) -> None:
    engine = Engine()
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    owner = f"{sweeping.this_process().host} {gone.pid} 1"
    labels = {**sweeping.labels("a-run", 60), sweeping.OWNER: owner}
    late = {**sweeping.labels("a-run", 60), sweeping.DEADLINE: "1"}
    others = {"somebody": "else"}
    assert containers.image
    with engine.client() as api:
        left, past, theirs = (
            engines.create(api, containers.image, container_flags("stage", Limits(), labels=each))
            for each in (labels, late, others)
        )
        removed = doctor.sweep()
        assert {left, past} <= set(removed)
        assert theirs not in removed
        engines.remove(api, theirs)
        engines.remove(api, theirs)  # a second time is fine


def test_what_was_made_behind_an_answer_that_was_lost_goes_with_the_rooms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody learned its id."""
    create = engines.create

    def lost(*args: Any) -> str:
        create(*args)
        raise TimeoutError

    with ContainerRooms() as rooms:
        monkeypatch.setattr(engines, "create", lost)
        room = rooms.open_stage()
        with pytest.raises(RoomError):
            room.receive(1)
        room.close()
        room.join()
        assert len(mine(Engine())) == 1
    assert mine(Engine()) == []


def test_rooms_that_are_closed_leave_nothing() -> None:
    with ContainerRooms() as rooms:
        rooms.open_stage()  # never closed, never spoken to
        rooms.open_judge().close()
    assert mine(Engine()) == []


def test_a_room_that_can_not_be_made_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.rooms import container

    def impossible(*args: Any, **options: Any) -> dict[str, Any]:
        return {**container_flags(*args, **options), "sysctls": {"kernel.hostname": "x"}}

    monkeypatch.setattr(container, "container_flags", impossible)
    with ContainerRooms() as rooms:
        report = grade(from_bytes(SOLUTION.encode()), 10, rooms=rooms, tests=TESTS)
        assert report.verdict == "error"
        assert "refused" in " ".join(t.message for t in report.tests)
        with pytest.raises(RoomError) as told:
            rooms.open_stage().receive(1)
        assert told.value.reason == "open"
    assert mine(Engine()) == []
