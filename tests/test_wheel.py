"""What gets installed works where there is no repository."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT],
        check=True,
        capture_output=True,
    )
    (path,) = out.glob("*.whl")
    return path


def test_the_wheel_has_one_top_level_package_and_every_lesson(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"grader"}
    for name in (
        "grader/py.typed",
        "grader/lab/__init__.py",
        "grader/inside/stage.py",
        "grader/damaged/__init__.py",
        "grader/hidden_tests/lesson_10/lesson.toml",
        "grader/hidden_tests/lesson_10/scenes.py",
        "grader/starters/lesson_10/harness.py",
    ):
        assert name in names


def test_it_grades_in_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    # The dependencies come from here, so that no network is needed; the package from the wheel.
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    site = next((home / "lib").glob("python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    here = [folder for folder in sys.path if "site-packages" in folder]
    (site / "dependencies.pth").write_text("\n".join(here))
    empty = tmp_path / "empty"
    empty.mkdir()
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CI")}

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [str(home / "bin" / "python"), "-P", "-m", "grader", *args]
        return subprocess.run(
            command, cwd=empty, env=env, capture_output=True, text=True, check=False
        )

    told = run("lessons")
    assert "10  The poisoned transcript" in told.stdout, told.stderr
    solution = ROOT / "tests" / "solutions" / "lesson_10" / "harness.py"
    done = run("--runner", "local", "--lesson", "10", str(solution))
    assert done.returncode == 0, done.stdout + done.stderr
    assert run("start", "--lesson", "10", "kit").returncode == 0
    where = [str(home / "bin" / "python"), "-P", "-c", "import grader; print(grader.__file__)"]
    found = subprocess.run(where, cwd=empty, env=env, capture_output=True, text=True, check=True)
    assert found.stdout.startswith(str(home))
