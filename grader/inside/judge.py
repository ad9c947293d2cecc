"""The judge: pytest and one lesson's hidden test module. Never sees the submission, only observations.

Talks frames over standard input and output. {"op": "open", "test_file", "tests", "modules"} makes it
collect; it answers {"op": "ready", "tests": […], "once": false}. {"op": "run", "seed", "tests": […]}, as
often as is asked, makes it run the tests named in a fork of the session that has collected; where it
can't fork, in that session itself, which can be done once. While it does it sends

    {"op": "play", "scene", "given", "ahead"}   and waits for the stage's answer
    {"op": "result", "id", "outcome", …}        as soon as a test is known
    {"op": "done", "outcomes": {…}}             pytest-json-report's own account, to check against

{"op": "stop"} in place of the stage's answer breaks the run off, answered with {"op": "stopped"}.
"""

from __future__ import annotations

import dataclasses
import gc
import inspect
import os
import shutil
import signal
import sys
import tempfile
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader import wire
from grader.inside import system
from grader.inside.draw import Draw
from grader.inside.rehearsal import rehearsed
from grader.inside.testing import BrokenRuleError, Case, Expect, Play

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.inside.testing import Shapes

# Parts of pytest that hidden tests have no use for; importing and asking them takes time. (`legacypath`
# has to stay: pytest-json-report reads a session's `fspath`.)
_NOT_NEEDED = (
    *("cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "logging", "pastebin"),
    *("setuponly", "setupplan", "stepwise", "subtests", "threadexception", "unittest"),
    "unraisableexception",
)
_METADATA = "lab_check"
_PREFIX = "test_"


class Channel:
    """Frames to and from the grader.

    Args:
        incoming: the descriptor to read from.
        outgoing: the descriptor to write to.
    """

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    def receive(self) -> Any:
        """The next frame. Where the grader has gone there is nobody to judge for: this leaves."""
        try:
            return wire.read_trusted(lambda n: os.read(self._incoming, min(n, 1 << 16)))
        except EOFError:
            os._exit(1)

    def send(self, value: Any) -> None:
        """Send one frame, whole."""
        rest = memoryview(wire.encode(value))
        try:
            while rest:
                rest = rest[os.write(self._outgoing, rest) :]
        except BrokenPipeError:
            os._exit(1)


class JudgePlugin:
    """Gives hidden tests their fixtures, and reports each as soon as it is known."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._seed = 0
        self._results: dict[str, dict[str, Any]] = {}
        self._collect_error = ""
        self._once = not system.can_fork()
        self.outcomes: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Iterator[None]:
        """Collected: say so, and run what is asked for, in a fork each where the system can fork."""
        tests = [_id(item.name) for item in session.items]
        self._channel.send(
            {"op": "ready", "tests": tests, "error": self._collect_error, "once": self._once}
        )
        gc.freeze()  # a fork that collects garbage would copy all of pytest
        gc.enable()  # a room is started without: that much is imported faster
        while True:
            order = self._channel.receive()
            child = 0 if self._once else os.fork()
            if child == 0:
                break
            if os.waitpid(child, 0)[1] != 0:
                self._channel.send({"op": "stopped"})
        self._seed = order["seed"]
        session.items[:] = [item for item in session.items if _id(item.name) in order["tests"]]
        return (yield)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep why the test module could not be imported, for its author."""
        if report.failed:
            self._collect_error = f"\n{report.longreprtext[-2000:]}"

    @pytest.fixture
    def case(self) -> Case:
        """What is being played, shared by `play` and `expect`."""
        return Case()

    @pytest.fixture
    def play(self, case: Case, request: pytest.FixtureRequest) -> Play:
        """Plays scenes."""
        player = Play(self._ask, case, _shapes(request.node))
        request.node.stash[_PLAY] = player
        return player

    @pytest.fixture
    def expect(self, case: Case) -> Expect:
        """Compares what was seen."""
        return Expect(case)

    @pytest.fixture
    def draw(self, request: pytest.FixtureRequest) -> Draw:
        """Draws values, for this test and seed."""
        return self._draw(request.node)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run a test; if it fails and one process for all could be why, again, with a process for each scene."""
        player = pyfuncitem.stash.get(_PLAY, None)
        if player is None:
            return None
        names = inspect.signature(pyfuncitem.obj).parameters
        values = {name: pyfuncitem.funcargs[name] for name in names}
        player.script = rehearsed(
            pyfuncitem.obj, names, self._draw(pyfuncitem), _shapes(pyfuncitem)
        )
        try:
            pyfuncitem.obj(**values)
        except BaseException:  # pytest's own failures are no `Exception`s
            if not player.together:
                raise
            player.again()
            if "draw" in values:
                values["draw"] = self._draw(pyfuncitem)
        else:
            return True
        pyfuncitem.obj(**values)
        return True

    def _draw(self, item: pytest.Item) -> Draw:
        return Draw(self._seed, _id(item.name))

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        self._channel.send(question)
        answer: dict[str, Any] = self._channel.receive()
        if answer.get("op") == "stop":
            if self._once:
                self._channel.send({"op": "stopped"})
            os._exit(1)
        return answer

    def pytest_json_runtest_metadata(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> dict[str, Any] | None:
        """What the failure has to tell goes into the JSON report, as metadata of its test."""
        told: dict[str, Any] = {}
        if call.excinfo is not None:
            exc = call.excinfo.value
            if isinstance(exc, BrokenRuleError):
                told["failure"] = dataclasses.asdict(exc.failure)
            else:
                place = call.excinfo.traceback[-1]
                told["error"] = (
                    f"{Path(place.path).name}:{place.lineno + 1}: {type(exc).__name__}: {exc}"
                )
        player = item.stash.get(_PLAY, None)
        if call.when == "call" and player is not None:
            told["stdout"] = player.printed if call.excinfo is None else player.stdout
        return {_METADATA: told} if told else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather a test's phases; send its result after the last."""
        result = self._results.setdefault(report.nodeid, {"outcome": "pass"})
        extra = getattr(report, "_json_report_extra", {}).get("metadata", {}).get(_METADATA, {})
        if report.when == "call":
            result["stdout"] = extra.get("stdout", "")
        if report.failed:
            broken = report.when == "call" and "failure" in extra
            result["outcome"] = "fail" if broken else "error"
            result |= {key: extra[key] for key in ("failure", "error") if key in extra}
        elif report.skipped:
            result |= {"outcome": "error", "error": "the hidden test was skipped"}
        if report.when == "teardown":
            name = _id(report.nodeid.rpartition("::")[2])
            self._channel.send({"op": "result", "id": name, **self._results.pop(report.nodeid)})

    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        """Keep the JSON report's own account of the outcomes."""
        self.outcomes = {
            _id(test["nodeid"].rpartition("::")[2]): test["outcome"]
            for test in json_report.get("tests", [])
        }


_PLAY = pytest.StashKey[Play]()


def _id(name: str) -> str:
    return name.removeprefix(_PREFIX)


def _shapes(item: Any) -> Shapes:
    return getattr(item.module, "SHAPES", {})


def judge(channel: Channel, first: dict[str, Any]) -> None:
    """Collect and run one lesson's hidden tests.

    Args:
        channel: to the grader.
        first: the opening frame.
    """
    for name, source in first["modules"].items():
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(source, f"{name}.py", "exec", dont_inherit=True), module.__dict__)
    folder = Path(tempfile.mkdtemp(prefix="lab_check-"))
    plugin = JudgePlugin(channel)
    try:
        file = folder / first["test_file"]
        file.write_text(first["tests"], encoding="utf-8")
        _run_pytest(file, plugin, lambda: shutil.rmtree(folder, ignore_errors=True))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    channel.send({"op": "done", "outcomes": plugin.outcomes})
    os._exit(0)


def _run_pytest(file: Path, plugin: JudgePlugin, collected: Callable[[], None]) -> None:
    """pytest, closed to everything around it: no configuration, conftest, cache or other plugins."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    class Tidy:
        def pytest_collection_finish(self) -> None:
            collected()  # nothing of the tests stays on disk while a submission is judged

    here = str(file.parent)
    arguments = ["-q", "-c", os.devnull, "--rootdir", here, "--noconftest"]
    # Else every folder above is listed, and each of its entries looked at.
    arguments += ["--confcutdir", here]
    arguments += ["--import-mode=importlib", "--assert=plain", "--capture=sys", "--tb=no"]
    arguments += [f"-pno:{name}" for name in _NOT_NEEDED]
    arguments += ["-p", "pytest_jsonreport.plugin", "--json-report"]
    arguments += ["--json-report-file=none", "--json-report-omit"]
    arguments += ["collectors", "log", "streams", "warnings", "keywords", "traceback", "--"]
    pytest.main([*arguments, str(file)], plugins=[plugin, Tidy()])


def main() -> None:
    """Serve frames from standard input until the tests are done."""
    channel = Channel(os.dup(0), os.dup(1))
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import lab  # noqa: F401, PLC0415 - hidden tests import it

    judge(channel, channel.receive())
