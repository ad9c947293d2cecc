"""The five damaged transcripts (page 10, the cards)."""

import subprocess
import sys
from pathlib import Path

import pytest

import damaged
from grader import lab


@pytest.mark.parametrize(
    ("name", "shape", "complaints"),
    [
        (
            "missing_result",
            "U A[c1,c2] R(c1) U",
            ["messages[1]: toolCall c2 has no toolResult"],
        ),
        (
            "orphan_result",
            "U A R(c7) U",
            ["messages[2]: toolResult c7 has no toolCall before it"],
        ),
        (
            "late_result",
            "U A[c1] U R(c1) A",
            [
                "messages[1]: toolCall c1 has no toolResult",
                "messages[3]: toolResult c1 must directly follow its assistant message, "
                "in call order",
            ],
        ),
        (
            "duplicate_result",
            "U A[c2] R(c2) R(c2) A",
            ["messages[3]: toolResult c2 is a second result for a call that already has one"],
        ),
        (
            "failed_reply_with_a_call",
            "U A[c1](error) U",
            ["messages[1]: toolCall c1 has no toolResult"],
        ),
    ],
)
def test_each_is_damaged_in_its_own_way(name: str, shape: str, complaints: list[str]) -> None:
    record = getattr(damaged, name)
    assert lab.shape(record) == shape
    assert lab.validate(record) == complaints


def test_what_the_cards_say_is_in_them() -> None:
    assert lab.show(damaged.missing_result[1:2]).endswith(
        'toolCall c1 read({"path": "main.py"}) + toolCall c2 bash({"command": "pytest"})'
    )
    assert damaged.orphan_result[2]["tool_name"] == "read"
    assert damaged.orphan_result[2]["content"] == "def main():\n\treturn 1\n"
    assert damaged.late_result[3]["content"] == "def main():\n\treturn 1\n"
    assert lab.show(damaged.duplicate_result[2:4]).split("\n") == [
        'toolResult c2 -> "3 passed"',
        'toolResult c2 -> "3 passed (second run)"',
    ]
    assert lab.show(damaged.failed_reply_with_a_call[1:2]) == (
        'assistant -> "Writing the file." + toolCall c1 write({"path": "main.py"})'
        "  [error: stream ended before the message was complete]"
    )


def test_no_two_of_them_share_a_message() -> None:
    messages = [m for name in damaged.__all__ for m in getattr(damaged, name)]
    assert len({id(message) for message in messages}) == len(messages) == 21


def test_it_needs_no_import(tmp_path: Path) -> None:
    assert damaged.__file__ is not None
    source = Path(damaged.__file__).read_text(encoding="utf-8")
    assert "\nimport " not in source
    assert "\nfrom " not in source
    (tmp_path / "damaged.py").write_text(source, encoding="utf-8")
    program = "import damaged; print(len(damaged.late_result))"
    run = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "5\n"
