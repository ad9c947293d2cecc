"""What is remembered is remembered in a folder of the test's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.calling import Call


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command remembers; an environment in which nothing else is set."""
    for name in [name for name in os.environ if name.startswith("LAB_CHECK_") or name == "CI"]:
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home / "lab_check"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return Call(capsys)
