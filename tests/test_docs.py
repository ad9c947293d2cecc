"""What the documents say is done: the example lesson is graded, links lead somewhere, commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from grader import cli, grade, kit, lessons
from grader.cohort.layouts import LAYOUTS
from grader.submission import from_bytes
from tests.cli.commands import leaves, parsed

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"(?:\*\*`([^`]+)`\*\*[^\n]*(?:\n[^`\n]+)*\n\n)?```(\w+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def example(tmp_path: Path) -> tuple[Path, str]:
    """CONTRIBUTING's lesson, written out; and its harness that passes."""
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    files = {name: text for name, _, text in blocks if name}
    assert sorted(files) == [
        "lesson_11/lesson.toml",
        "lesson_11/scenes.py",
        "lesson_11/test_lesson_11.py",
    ]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path, blocks[-1][2]


def test_the_example_lesson_is_graded(example: tuple[Path, str]) -> None:
    folder, right = example
    lesson = lessons.find(11, [folder])
    assert grade(from_bytes(right.encode()), lesson).verdict == "pass"


def test_the_example_lesson_names_its_wrong_answer(example: tuple[Path, str]) -> None:
    folder, right = example
    lesson = lessons.find(11, [folder])
    wrong = right.replace("counts = {}", 'counts = {"toolResult": 0}')
    (result,) = grade(from_bytes(wrong.encode()), lesson).tests
    assert result.wrong_answer is not None
    assert result.wrong_answer.id == "counts-what-is-not-there"
    (missing,) = grade(from_bytes(b"x = 1"), lesson).tests
    assert (missing.kind, missing.hint) == ("missing_name", lesson.names["tally"])


def test_no_file_of_the_grader_knows_the_example() -> None:
    for path in (ROOT / "grader").rglob("*.py"):
        assert "lesson_11" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_nobody_is_sent_to_a_package_index_for_it() -> None:
    for name in ("README.md", "students.md", "ci.md", "CONTRIBUTING.md"):
        (page,) = (page for page in PAGES if page.name == name)
        assert "pip install lab" not in page.read_text(encoding="utf-8"), name


def test_the_readme_says_once_how_the_bare_command_is_found() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    activated = text.index("`. .venv/bin/activate`")
    assert text.count("```bash", 0, activated) == 2
    assert text.count(".venv/bin/activate") == 1


# --- every command and option has its place, and every line its sense -------------------------------

TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
GUIDES = {name: text for name, text in TEXTS.items() if name != "CHANGELOG.md"}
LINES = sorted(
    {
        line
        for text in GUIDES.values()
        for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("lab_check ")
    }
    | {
        line
        for text in GUIDES.values()
        for line in re.findall(r"`(lab_check [^`…]+)`", text)
        if "$(" not in line and "NN" not in line
    }
)
# What is named in the middle of a sentence, without all that it takes.
BARE = {f"lab_check {name}" for name in ("batch", "bundle gradescope", "demo", "hint", "start")}
# Lines that a test elsewhere runs, or that need an engine, a cluster or somebody at the keyboard.
NOT_HERE = re.compile(
    r"docker|FORMAT|--watch|--cluster|--config|--lessons|^lab_check (batch|bundle|image|doctor)"
)


def test_there_are_lines_to_look_at() -> None:
    assert len(LINES) > 40
    assert len([line for line in LINES if not NOT_HERE.search(line)]) > 15


@pytest.mark.parametrize(("name", "command"), leaves(), ids=lambda value: str(value)[:20])
def test_a_command_and_its_options_have_help_and_a_place(name: str, command: Any) -> None:
    assert command.help, name
    about = [t for t in GUIDES.values() if f"lab_check {name}" in t or name == "grade"]
    assert about, f"no page has `lab_check {name}`"
    for param in command.params:
        if not isinstance(param, click.Option):
            continue
        assert param.help, f"{name} {param.opts}"
        assert param.help.endswith("."), f"{name} {param.opts}"
        for word in param.opts:
            known = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
            assert any(map(known.search, about)), f"{name} {word} is on none of its pages"


def test_what_a_command_chooses_from_is_what_there_is() -> None:
    options = {param.name: param for param in dict(leaves())["batch"].params}
    layout = options["layout"].type
    assert isinstance(layout, click.Choice)
    assert set(layout.choices) == set(LAYOUTS)


@pytest.mark.parametrize("line", [line for line in LINES if line not in BARE])
def test_every_command_line_can_be_taken_apart(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.lab_check]\nlesson = 10\n", encoding="utf-8")
    words = shlex.split(line)[1:]
    name, _ = parsed(words)
    assert name.split()[0] in (words[0], "grade")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit in which everything is done."""
    folder = tmp_path_factory.mktemp("desk")
    kit.write(lessons.find(10), folder)
    solution = ROOT / "tests" / "solutions" / "lesson_10" / "harness.py"
    (folder / "harness.py").write_bytes(solution.read_bytes())
    return folder


@pytest.mark.parametrize(
    "line",
    [line for line in LINES if line not in BARE and not NOT_HERE.search(line)],
)
def test_a_command_line_that_a_student_types_works(
    line: str,
    desk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("LAB_CHECK_RUNNER", "local")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path if line.startswith("lab_check start") else desk)
    assert cli._run(shlex.split(line)[1:]) == 0, capsys.readouterr().err


def test_the_lines_of_authors_work(
    example: tuple[Path, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The page's own starter, hints and demonstration, put beside CONTRIBUTING's lesson."""
    folder, right = example
    page = GUIDES["authors.md"]
    starter, demo = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (hints,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "my-lessons").mkdir()
    lesson = (folder / "lesson_11").rename(tmp_path / "my-lessons" / "lesson_11")
    (lesson / "hints.toml").write_text(hints, encoding="utf-8")
    (lesson / "demo.py").write_text(demo, encoding="utf-8")
    (tmp_path / "starters" / "lesson_11").mkdir(parents=True)
    (tmp_path / "starters" / "lesson_11" / "harness.py").write_text(starter, encoding="utf-8")
    (tmp_path / "harness.py").write_text(right, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("LAB_CHECK_RUNNER", "local")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lines = [line for line in LINES if "--lessons my-lessons" in line and "--watch" not in line]
    assert len(lines) >= 6
    hint = "lab_check hint --lessons my-lessons --lesson 11 tally"
    said = ""
    for line in [*lines, hint]:
        assert cli._run(shlex.split(line)[1:]) == 0, (line, capsys.readouterr().err)
        said += capsys.readouterr().out
    assert "counted: {'user': 1}" in said
    assert "tally, hint 1 of 3" in said
