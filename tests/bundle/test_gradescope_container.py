"""The Gradescope bundle where it runs: a container with only Python, as root, without a network.

What means harm runs in those containers only, never on this machine.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader import grade
from grader.render import gradescope
from grader.submission import from_bytes
from tests.bundle.places import LESSON, Place, place

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.docker

HERE = Path(__file__).parent
RIGHT = (HERE.parent / "solutions" / "lesson_10" / "harness.py").read_bytes()
WRONG = RIGHT.replace(b"for message in reversed(messages):", b"for message in messages:")
BROKEN = RIGHT.replace(b"def repair_tool_history(messages):", b"def repair_tool_history(messages:")
HOSTILE = (HERE / "hostile.py").read_bytes()
AND_STAYS = b"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/usr/bin/sleep", ["sleep", "321"])
    os._exit(0)
"""
TELLS = b"""
got = attack(9)
if got:
    raise RuntimeError(got)
"""


@pytest.fixture(scope="module")
def ready() -> Iterator[Place]:
    """A container in which setup.sh has run."""
    with place() as here:
        status, printed = here.do("/autograder/source/setup.sh")
        assert (status, "ready to grade lesson 10" in printed) == (0, True), printed
        yield here


@pytest.fixture
def fresh() -> Iterator[Place]:
    """A container in which nothing has run yet."""
    with place() as here:
        yield here


def expected(submitted: bytes) -> dict[str, Any]:
    """What the same grading gives here, in plain processes, with the seed that bundles have."""
    report = grade(io.BytesIO(submitted), LESSON, seed=None)
    return timeless(json.loads(gradescope.render(report)))


def timeless(result: dict[str, Any]) -> dict[str, Any]:
    assert result.pop("execution_time") >= 0
    return result


@pytest.mark.parametrize(
    ("submitted", "score"),
    [(RIGHT, 14), (WRONG, None), (BROKEN, 0), (b"", 0)],
    ids=["right", "wrong", "not Python", "empty"],
)
def test_the_result_is_the_one_that_the_command_gives(
    ready: Place, submitted: bytes, score: int | None
) -> None:
    ready.hand_in({"harness.py": submitted})
    status, result = ready.grade()
    assert status == 0
    assert timeless(result) == expected(submitted)
    assert result["score"] == sum(test["score"] for test in result["tests"])
    assert result["score"] == score if score is not None else 0 < result["score"] < 14


@pytest.mark.parametrize(
    "files",
    [
        {"week 10/harness.py": RIGHT, "week 10/old/harness.py": BROKEN},
        {"Harness (1).py": RIGHT, "notes.txt": b"mine", "__MACOSX/harness.py": b"\0"},
        {"lab10.py": RIGHT, "damaged.py": b"", "tests.py": b"", "lab/lab_check.py": b""},
    ],
    ids=["the upper one", "a browser's name", "the only Python file"],
)
def test_the_harness_is_found(ready: Place, files: dict[str, bytes]) -> None:
    ready.hand_in(files)
    status, result = ready.grade()
    assert (status, result["score"]) == (0, 14)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "There is no file in what was handed in."),
        ({"report.pdf": b"%PDF"}, "There is no harness.py: handed in was report.pdf"),
        ({"a/harness.py": RIGHT, "b/harness.py": RIGHT}, "a/harness.py, b/harness.py"),
        ({"harness.py": RIGHT, "harness-1.py": RIGHT}, "harness.py, harness-1.py"),
        (
            {"harness.py": b"-> /autograder/source/lab_check/hidden_tests/lesson_10/lesson.toml"},
            "harness.py could not be taken: it is a link",
        ),
    ],
    ids=["nothing", "something else", "two folders", "two names", "a link to the tests"],
)
def test_no_harness_or_several_is_said(ready: Place, files: dict[str, bytes], says: str) -> None:
    ready.hand_in(files)
    status, result = ready.grade()
    assert status == 0
    assert says in result["output"]
    assert (result["score"], len(result["tests"])) == (0, 14)
    assert "newest-wins" not in json.dumps(result)


# --- a submission that means harm -----------------------------------------------------------------


def test_a_hostile_submission_reaches_nothing(fresh: Place) -> None:
    """Not even where setup.sh never ran, and the platform unpacked everything for all to read."""
    users = ("0", "65534", "12345")
    for user in users:
        made = fresh.api.exec_create(fresh.id, ["sleep", "300"], user=user)["Id"]
        fresh.api.exec_start(made, detach=True)
    fresh.hand_in({"harness.py": RIGHT + b"\n" + HOSTILE + TELLS + AND_STAYS})
    status, result = fresh.grade()
    assert (status, result["score"]) == (0, 14), result["output"]
    running = processes(fresh)
    assert running.count("sleep 300") == len(users)
    assert "sleep 321" not in running
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        assert fresh.do("ls", "-A", folder) == (0, "")


def test_what_it_tries_would_work_where_nothing_is_sealed(fresh: Place) -> None:
    fresh.put({"hostile.py": HOSTILE}, "/opt")
    fresh.put({"rules": b"newest-wins"}, "/home")
    show = (
        "import sys; sys.path[:0] = ['/opt']; import hostile; print('\\n'.join(hostile.attack(0)))"
    )
    status, printed = fresh.do("python3", "-I", "-c", show)
    assert status == 0, printed
    got = printed.splitlines()
    for kind in (
        "read /autograder/source/lab_check/hidden_tests/lesson_10/test_lesson_10.py",
        "read /autograder/submission_metadata.json",
        "listed /autograder/source",
        "read /home/rules",
        "opened environ",
        "opened mem",
        "listed fd",
        "traced",
        "wrote /autograder/results/results.json",
        "wrote /autograder/run_autograder",
        "changed modes",
        "made a folder in /tmp",
        "became root",
        "changed its root",
        "signalled 1",
    ):
        assert kind in got, printed


def processes(here: Place) -> list[str]:
    """The command lines of all that runs."""
    titles, rows = (here.api.top(here.id, "-eo pid,args")[key] for key in ("Titles", "Processes"))
    return [row[titles.index("COMMAND")] for row in rows]


# --- an autograder that failed --------------------------------------------------------------------

NO_PYTHON = "mkdir /gone && mv /usr/bin/python3* /gone"
PRIVATE = "chmod go= /usr/lib/python3*"
NO_TESTS = "rm /autograder/source/lab_check/hidden_tests/lesson_10/test_lesson_10.py"
NO_JUDGE = "echo 'raise SystemExit(1)' > /autograder/source/lab_check/site/pytest/__init__.py"
NO_SUBMISSION = "rm -r /autograder/submission"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (NO_PYTHON, "no Python to run with"),
        (PRIVATE, "no Python to run with"),
        (NO_TESTS, "test_*.py"),
        (NO_JUDGE, "The judge ended"),
        (NO_SUBMISSION, "There is no folder /autograder/submission."),
    ],
    ids=["no Python", "a Python that is root's", "no tests", "no judge", "no submission"],
)
def test_a_fault_of_ours_is_no_score(fresh: Place, damage: str, says: str) -> None:
    fresh.hand_in({"harness.py": RIGHT})
    assert fresh.do("sh", "-c", damage) == (0, "")
    if damage != NO_SUBMISSION:
        assert fresh.do("/autograder/source/setup.sh")[0] == 1
    status, result = fresh.grade()
    assert status == 3
    assert says in result["output"]
    assert "held against you" in result["output"]
    assert "score" not in result
    assert not any("score" in test for test in result.get("tests", ()))


FLAW = """
import sys
from pathlib import Path
sys.path[:0] = ["/autograder/source/lab_check"]
from grader.bundle import sealing
print(sealing.flaw([Path("/root"), *map(Path, sys.argv[2:])], Path(sys.argv[1])))
"""


@pytest.mark.parametrize(
    ("user", "paths", "says"),
    [
        ("0", ["/root"], ""),
        ("0", ["/tmp"], "A submission could write into /tmp."),
        ("0", ["/root", "/etc/passwd"], "A submission could read /etc/passwd."),
        ("65534", ["/root"], "It does not run as root, so a submission would have"),
    ],
    ids=["sealed", "results open", "tests open", "not root"],
)
def test_a_seal_that_does_not_hold_is_noticed(
    fresh: Place, user: str, paths: list[str], says: str
) -> None:
    status, printed = fresh.do("python3", "-I", "-c", FLAW, *paths, user=user)
    assert status == 0
    assert printed.strip() == says if not says else printed.startswith(says)


def test_the_folder_itself_may_not_be_root_s(fresh: Place) -> None:
    """A platform that gives the results to somebody else, by an access list or a mount of its own."""
    fresh.hand_in({"harness.py": RIGHT})
    leak = "sed -i 's/^    chmod go=/    chmod go+rwx/' /autograder/source/lab_check/python.sh"
    assert fresh.do("sh", "-c", leak) == (0, "")
    status, result = fresh.grade()
    assert status == 3
    assert "A submission could read /autograder/source/lab_check" in result["output"]
    assert "score" not in result


def test_from_bytes_agrees_on_the_seed() -> None:
    assert expected(RIGHT)["extra_data"]["seed"] == int(from_bytes(RIGHT).sha256[:12], 16)
