"""The action and the templates, run step by step as their hosts would, with a real engine.

What a host adds (who may change which file, when a job starts) can't be run here; of that, the files are
read, and what would let a student's code run outside of a room is looked for.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.rooms import image
from tests.render import reading

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITHUB = yaml.safe_load((ROOT / "docs" / "ci" / "github.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((ROOT / "docs" / "ci" / "gitlab-ci.yml").read_text(encoding="utf-8"))
RIGHT = (ROOT / "tests" / "solutions" / "lesson_10" / "harness.py").read_text(encoding="utf-8")
WRONG = RIGHT.replace("for message in reversed(messages):", "for message in messages:")
BROKEN = RIGHT.replace("def repair_tool_history(messages):", "def repair_tool_history(messages:")
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "PYENV_ROOT", "PYENV_VERSION")
# What a step would import, source or obey if it looked for anything among a student's files.
TRAPS = (
    *("venv.py", "pip.py", "click.py", "json.py", "grader.py", "docker.py", "sitecustomize.py"),
    *("usercustomize.py", "encodings.py", "conftest.py", "pytest.py"),
)


@dataclass(frozen=True)
class Ran:
    """What a step left."""

    status: int
    log: str
    outputs: dict[str, str] = field(default_factory=dict)


def environment(**more: str) -> dict[str, str]:
    kept = {
        name: os.environ[name] for name in os.environ if name in KEPT or name.startswith("PIP_")
    }
    return {**kept, "CI": "true", **more}


def bash(script: str, folder: Path, env: dict[str, str]) -> Ran:
    """A step, in the way that GitHub documents for `shell: bash`."""
    file = folder.parent / "step.sh"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", file],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout + done.stderr)


def hand_in(folder: Path, source: str | None) -> Path:
    """A checkout: a harness, and traps that leave a mark beside the checkout if anything runs them."""
    folder.mkdir()
    for name in TRAPS:
        trap = f"open({str(folder.parent / 'sprung')!r}, 'a').write({name!r})\n"
        (folder / name).write_text(trap, encoding="utf-8")
    if source is not None:
        (folder / "harness.py").write_text(source, encoding="utf-8")
    return folder


# --- the action -----------------------------------------------------------------------------------


class Runner:
    """As much of GitHub's runner as the action needs."""

    def __init__(self, home: Path) -> None:
        self.temp = home / "temp"
        self.temp.mkdir()

    def run(self, name: str, workspace: Path, given: dict[str, str]) -> Ran:
        """One step of the action, by its name."""
        (step,) = [step for step in ACTION["runs"]["steps"] if step["name"] == name]
        assert step["shell"] == "bash"
        output, summary = workspace.parent / "output", workspace.parent / "summary.md"
        output.write_text("", encoding="utf-8")
        env = environment(
            GITHUB_ACTIONS="true",
            GITHUB_ACTION_PATH=str(ROOT),
            GITHUB_WORKSPACE=str(workspace),
            GITHUB_OUTPUT=str(output),
            GITHUB_STEP_SUMMARY=str(summary),
            RUNNER_TEMP=str(self.temp),
            **{key: expanded(value, given) for key, value in step.get("env", {}).items()},
        )
        done = bash(step["run"], workspace, env)
        lines = output.read_text(encoding="utf-8").splitlines()
        return Ran(done.status, done.log, dict(line.split("=", 1) for line in lines))


def expanded(text: str, given: dict[str, str]) -> str:
    """`${{ inputs.name }}` in its place, with the default where nothing is given."""
    inputs = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
    inputs |= given
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A runner on which the action's first two steps have run, beside a student's files."""
    home = tmp_path_factory.mktemp("runner")
    runner, workspace = Runner(home), hand_in(home / "workspace", RIGHT)
    base = image.status().base
    for name in ("Install lab_check", "Build the image"):
        done = runner.run(name, workspace, {"base-image": base})
        assert done.status == 0, done.log
    assert not (home / "sprung").exists()
    return runner


@pytest.mark.docker
@pytest.mark.parametrize(
    ("source", "given", "status", "verdict"),
    [
        (RIGHT, {}, 0, "pass"),
        (WRONG, {}, 1, "fail"),
        (WRONG, {"fail-under": "5"}, 0, "fail"),
        (WRONG, {"fail-under": "14"}, 1, "fail"),
        (BROKEN, {}, 1, "fail"),
        (None, {}, 1, "fail"),
    ],
    ids=["right", "wrong", "enough", "not enough", "not Python", "missing"],
)
def test_the_action_grades(
    runner: Runner,
    tmp_path: Path,
    source: str | None,
    given: dict[str, str],
    status: int,
    verdict: str,
) -> None:
    workspace = hand_in(tmp_path / "workspace", source)
    done = runner.run("Grade", workspace, {"lesson": "10", **given})
    assert done.status == status, done.log
    reports = Path(done.outputs.pop("reports"))
    report = json.loads((reports / "report.json").read_text(encoding="utf-8"))
    assert report["verdict"] == verdict
    assert report["grader"]["runner"] == "docker"
    score = report["score"]
    assert done.outputs == {
        "verdict": verdict,
        "points": str(score["points"]),
        "max-points": str(score["max_points"]),
    }
    suite = reading.junit((reports / "junit.xml").read_text(encoding="utf-8"))[0]
    assert (suite.get("failures") == "0") == (verdict == "pass")
    errors = [found for found in reading.commands(done.log) if found[0] == "error"]
    assert bool(errors) == (verdict == "fail")
    if source is not None:
        assert all(found[1]["file"] == "harness.py" for found in errors)
    assert "Lesson 10" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (reports / "report.html").stat().st_size > 1000
    assert not (tmp_path / "sprung").exists()


@pytest.mark.docker
def test_the_action_grades_in_a_folder_of_the_workspace(runner: Runner, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    hand_in(workspace / "submission", None)
    (workspace / "submission" / "lab 10").mkdir()
    (workspace / "submission" / "lab 10" / "-harness.py").write_text(RIGHT, encoding="utf-8")
    given = {"lesson": "10", "working-directory": "submission", "harness": "lab 10/-harness.py"}
    done = runner.run("Grade", workspace, given)
    assert (done.status, done.outputs["verdict"]) == (0, "pass"), done.log
    assert not (workspace / "sprung").exists()


@pytest.mark.docker
@pytest.mark.parametrize("where", ["the file", "its folder"])
def test_the_action_follows_no_link(runner: Runner, tmp_path: Path, where: str) -> None:
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "harness.py").write_text("the secret of lesson 10", encoding="utf-8")
    workspace = hand_in(tmp_path / "workspace", None)
    if where == "the file":
        (workspace / "harness.py").symlink_to(secret / "harness.py")
    else:
        (workspace / "lab").symlink_to(secret)
    harness = "harness.py" if where == "the file" else "lab/harness.py"
    done = runner.run("Grade", workspace, {"lesson": "10", "harness": harness})
    assert (done.status, done.outputs) == (1, {})
    assert "The harness is a link" in done.log
    assert "secret" not in done.log


@pytest.mark.docker
@pytest.mark.parametrize(
    "given",
    [{"lesson": '10"; touch sprung; "'}, {"lesson": "10", "fail-under": "$(touch sprung)"}],
    ids=["lesson", "fail-under"],
)
def test_an_input_is_never_run(runner: Runner, tmp_path: Path, given: dict[str, str]) -> None:
    workspace = hand_in(tmp_path / "workspace", RIGHT)
    done = runner.run("Grade", workspace, given)
    assert done.status == 2
    assert "verdict" not in done.outputs
    assert not list(tmp_path.rglob("sprung"))


def test_the_action_is_what_a_host_takes() -> None:
    assert set(ACTION) == {"name", "description", "inputs", "outputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    assert [name for name, each in ACTION["inputs"].items() if each.get("required")] == ["lesson"]
    for each in [*ACTION["inputs"].values(), *ACTION["outputs"].values()]:
        assert each["description"].endswith(".")
    for step in ACTION["runs"]["steps"]:
        assert set(step) <= {"name", "id", "shell", "env", "run"}
        assert "${{" not in step["run"]  # an input in a script's text would be run
    written = {found for step in ACTION["runs"]["steps"] for found in names_of(step)}
    assert {f"steps.grade.outputs.{name}" for name in ACTION["outputs"]} == {
        each["value"].strip("${} ") for each in ACTION["outputs"].values()
    }
    assert set(ACTION["inputs"]) == written


def names_of(step: dict[str, Any]) -> list[str]:
    return re.findall(r"inputs\.([\w-]+)", json.dumps(step.get("env", {})))


# --- the example workflow -------------------------------------------------------------------------


def test_the_workflow_runs_nothing_of_a_pull_request() -> None:
    assert set(GITHUB[True]) == {"pull_request_target"}  # YAML reads `on` as a truth value
    assert GITHUB["permissions"] == {"contents": "read"}
    (job,) = GITHUB["jobs"].values()
    assert "permissions" not in job
    fetched, graded, kept = job["steps"]
    assert fetched["uses"].startswith("actions/checkout@")
    assert fetched["with"]["persist-credentials"] is False
    assert fetched["with"]["path"] == graded["with"]["working-directory"]
    assert set(graded["with"]) <= set(ACTION["inputs"])
    assert not any("run" in step or step["uses"].startswith("./") for step in job["steps"])
    outputs = re.findall(rf"steps\.{graded['id']}\.outputs\.([\w-]+)", json.dumps([kept, job]))
    assert outputs
    assert set(outputs) <= set(ACTION["outputs"])


def test_the_workflow_keeps_no_secret_where_a_student_could_reach_it() -> None:
    text = (ROOT / "docs" / "ci" / "github.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "cache" not in text


# --- GitLab ---------------------------------------------------------------------------------------


JOB = GITLAB["lab_check"]
PREPARED = next(i for i, line in enumerate(JOB["script"]) if line.startswith("rm -rf"))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The job's script up to where it looks at the submission; gives the folder that it made."""
    home = tmp_path_factory.mktemp("gitlab")
    project = hand_in(home / "project", RIGHT)
    done = job([*JOB["script"][:PREPARED], 'echo "$tools" >../tools'], project)
    assert done.status == 0, done.log
    assert not (home / "sprung").exists()
    return (home / "tools").read_text(encoding="utf-8").strip()


def job(script: list[str], project: Path, **more: str) -> Ran:
    """A job's lines run in one shell. The engine is this machine's, not a service."""
    settings = {name: value for name, value in JOB["variables"].items() if "DOCKER" not in name}
    settings |= {"LAB_CHECK_SOURCE": str(ROOT), "LAB_CHECK_BASE": image.status().base, **more}
    return bash(
        "\n".join(script),
        project,
        environment(GITLAB_CI="true", TMPDIR=str(project.parent), **settings),
    )


@pytest.mark.docker
@pytest.mark.parametrize(
    ("source", "enough", "status"),
    [(RIGHT, "", 0), (WRONG, "", 1), (WRONG, "5", 0), (BROKEN, "", 1), (None, "", 1)],
    ids=["right", "wrong", "enough", "not Python", "missing"],
)
def test_the_gitlab_job_grades(
    tools: str, tmp_path: Path, source: str | None, enough: str, status: int
) -> None:
    project = hand_in(tmp_path / "project", source)
    (project / "lab_check-reports").symlink_to(tmp_path)  # a student's, in the way
    script = [f"tools={tools}", *JOB["script"][PREPARED:]]
    done = job(script, project, LAB_CHECK_FAIL_UNDER=enough)
    assert done.status == status, done.log
    suite = reading.junit((project / JOB["artifacts"]["reports"]["junit"]).read_text("utf-8"))[0]
    assert (suite.get("failures") == "0") == (source == RIGHT)
    assert int(suite.get("tests")) >= 14
    assert not (tmp_path / "junit.xml").exists()
    assert not (tmp_path / "sprung").exists()


@pytest.mark.docker
def test_the_gitlab_job_follows_no_link(tools: str, tmp_path: Path) -> None:
    project = hand_in(tmp_path / "project", None)
    (tmp_path / "secret").write_text("the secret of lesson 10", encoding="utf-8")
    (project / "harness.py").symlink_to(tmp_path / "secret")
    done = job([f"tools={tools}", *JOB["script"][PREPARED:]], project)
    assert done.status == 1
    assert "The harness is a link" in done.log
    assert "secret" not in done.log


def test_the_gitlab_job_is_what_a_host_takes() -> None:
    assert list(GITLAB) == ["lab_check"]
    assert JOB["artifacts"]["when"] == "always"
    assert JOB["artifacts"]["reports"]["junit"].endswith(".xml")
    assert JOB["artifacts"]["paths"] == ["lab_check-reports/"]
    assert JOB["retry"]["exit_codes"] == 3
    assert all(isinstance(value, str) for value in JOB["variables"].values())
    assert all(isinstance(line, str) for line in JOB["script"])


# --- the page that tells of all this ---------------------------------------------------------------


PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^lab_check (.+)$", PAGE, re.MULTILINE)


@pytest.mark.docker
@pytest.mark.parametrize("line", COMMANDS)
def test_the_page_s_commands_work(tmp_path: Path, line: str) -> None:
    (tmp_path / "submission").mkdir()
    for name in ("harness.py", "submission/harness.py"):
        (tmp_path / name).write_text(RIGHT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader", *shlex.split(line)],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written = re.findall(r"\w+=(\S+)|(\S+\.zip)", line)
    assert written
    assert all((tmp_path / (report or bundle)).is_file() for report, bundle in written)


def test_the_page_names_every_input_and_output() -> None:
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"`{name}`" in PAGE
    for name, each in ACTION["inputs"].items():
        if each.get("default"):
            assert f"| `{name}` | `{each['default']}` |" in PAGE
