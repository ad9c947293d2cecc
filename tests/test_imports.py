"""Imports point one way. Draws the graph of `grader` and fails on an arrow that is not in the plan."""

from __future__ import annotations

import ast
from pathlib import Path

import grader

ROOT = Path(grader.__file__).parent

# Who may import whom, top to bottom. A part is a module or a package directly below `grader`.
PLAN: dict[str, set[str]] = {
    "__main__": {"start"},
    "start": {"cli", "rooms"},
    "output": {"render", "records", "errors"},
    "bundle": {
        "cohort",
        "grading",
        "lessons",
        "output",
        "render",
        "rooms",
        "records",
        "errors",
        "submission",
    },
    "commands": {
        "batch",
        "carried",
        "cohort",
        "config",
        "demo",
        "grading",
        "hints",
        "judging",
        "kit",
        "lessons",
        "output",
        "render",
        "rooms",
        "records",
        "errors",
        "state",
        "submission",
        "watching",
    },
    "cli": {"bundle", "commands", "errors"},
    "config": {"errors"},
    "demo": {"lessons", "reporting", "rooms", "staging", "records", "errors"},
    "hints": {"lessons", "errors"},
    "spelling": set(),
    "state": set(),
    "watching": set(),
    "gaps": {"lessons"},
    "batch": {
        "cohort",
        "grading",
        "judging",
        "lessons",
        "reporting",
        "rooms",
        "records",
        "errors",
        "submission",
    },
    "kit": {"lessons", "errors"},
    "grading": {
        "gaps",
        "judging",
        "lessons",
        "reporting",
        "rooms",
        "staging",
        "submission",
        "records",
        "errors",
    },
    "reporting": {"lessons", "rooms", "records", "spelling"},
    "judging": {"lessons", "rooms", "carried", "errors"},
    "staging": {"lessons", "outcome", "rooms", "records", "carried", "errors"},
    "outcome": {"wire", "carried", "errors"},
    "cohort": {"submission", "records", "errors"},
    "render": {"lessons", "records", "errors"},
    "schema": {"records", "carried"},
    "lessons": {"records", "errors"},
    "submission": {"records", "errors"},
    "rooms": {"wire", "carried", "program", "errors"},
    "inside": {"wire", "carried", "program", "errors"},
    "program": set(),
    "wire": {"errors"},
    "records": {"carried"},
    "carried": set(),
    "errors": set(),
    "lab": set(),
    "__init__": {"batch", "grading", "records"},
}


def arrows() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] in ("hidden_tests", "starters", "damaged"):
            continue
        for target in imported(ast.parse(path.read_text(encoding="utf-8")), len(parts)):
            if target != parts[0]:
                found.setdefault(parts[0], set()).add(target)
    return found


def imported(tree: ast.Module, depth: int) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level < depth, "a relative import that leaves its package"
    inner = [name.split(".")[1] for name in names if name.startswith("grader.")]
    modules = {path.stem for path in ROOT.iterdir()}
    return {name for name in inner if name in modules}


def test_every_arrow_is_in_the_plan() -> None:
    found = arrows()
    drawing = "\n".join(f"{part:>10} -> {' '.join(sorted(to))}" for part, to in found.items())
    wrong = {part: sorted(to - PLAN.get(part, set())) for part, to in found.items()}
    assert {part: to for part, to in wrong.items() if to} == {}, drawing


def test_the_plan_has_no_cycle() -> None:
    left = {part: set(to) for part, to in PLAN.items()}
    while left:
        free = [part for part, to in left.items() if not to & left.keys()]
        assert free, f"a cycle among {sorted(left)}"
        for part in free:
            del left[part]


def test_nothing_outside_imports_what_runs_in_a_room() -> None:
    assert [part for part, to in PLAN.items() if "inside" in to] == []


def test_the_lab_imports_nothing_of_ours() -> None:
    for path in (ROOT / "lab").glob("*.py"):
        assert "grader" not in path.read_text(encoding="utf-8").replace("grader.lab", "")
