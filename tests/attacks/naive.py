"""A plain grader, to compare with: pytest, the hidden tests and the submission in one process.

The hidden tests, the scenes and the fixtures are those of the real one; what is missing is the two rooms.
It believes what graders of this kind believe: pytest's report of each test and, where there is none, the
exit status. Run it in a container and nowhere else: `python naive.py FOLDER`, where FOLDER holds the
submission as harness.py, the hidden tests as test_hidden.py, and scenes.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_TIMEOUT_S = 8.0
_OUTPUT = 200_000  # characters of what was printed


def grade(folder: Path, tests: list[str]) -> dict[str, Any]:
    """Grade the submission in `folder`.

    Returns:
        "outcomes", pass or fail by test, and "output", all that the student gets to see.
    """
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(folder)}
    command = [sys.executable, "-B", __file__, str(folder), *tests]
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        return {"outcomes": dict.fromkeys(tests, "fail"), "output": _text(exc.stdout)}
    output = _text(ran.stdout) + _text(ran.stderr)
    try:
        report = json.loads((folder / "report.json").read_text())
        outcomes = {
            test["nodeid"].rpartition("::test_")[2]: "pass"
            if test["outcome"] == "passed"
            else "fail"
            for test in report["tests"]
        }
    except (OSError, ValueError, KeyError, TypeError):
        outcomes = dict.fromkeys(tests, "pass" if ran.returncode == 0 else "fail")
    return {"outcomes": outcomes, "output": output}


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "backslashreplace")[:_OUTPUT]


def inside(folder: Path) -> int:
    """The one process: import everything, run pytest, give its exit status."""
    sys.path.insert(0, str(folder))
    import harness  # type: ignore[import-not-found]
    import pytest

    from grader.inside.actor import Actor
    from grader.inside.console import Console
    from grader.inside.testing import Case, Draw, Expect, Play

    scenes: dict[str, Any] = {"__name__": "scenes"}
    exec((folder / "scenes.py").read_text(), scenes)
    actor = Actor(harness, (folder / "harness.py").read_text(), Console(1, 1 << 20))

    class Plugin:
        @pytest.fixture
        def case(self) -> Case:
            return Case()

        @pytest.fixture
        def play(self, case: Case) -> Play:
            def ask(asked: dict[str, Any]) -> dict[str, Any]:
                return {"observation": scenes[asked["scene"]](actor, **asked["given"])}

            return Play(ask, case, {})

        @pytest.fixture
        def expect(self, case: Case) -> Expect:
            return Expect(case)

        @pytest.fixture
        def draw(self, request: pytest.FixtureRequest) -> Draw:
            return Draw(7, request.node.name.removeprefix("test_"))

    arguments = ["-q", "--capture=no", "--tb=no", "-c", os.devnull, "--rootdir", str(folder)]
    arguments += ["-p", "no:cacheprovider", "-p", "pytest_jsonreport.plugin", "--json-report"]
    arguments += ["--json-report-file", str(folder / "report.json"), str(folder / "test_hidden.py")]
    return int(pytest.main(arguments, plugins=[Plugin()]))


if __name__ == "__main__":
    sys.exit(inside(Path(sys.argv[1])))
