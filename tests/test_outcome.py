"""What came out of a player's process, and what is made of it; by signals and by what Windows says."""

from __future__ import annotations

from typing import Any

import pytest

from grader import wire
from grader.carried import Limits, Seen
from grader.outcome import answer

LIMITS = Limits(scene_cpu_s=2.0, frame_bytes=100, stdout_bytes=4)
LINES = wire.encode({"lines": {}})


def gave(frame: bytes = b"", printed: bytes = b"", **fields: Any) -> dict[str, Any]:
    return answer(Seen(**fields), frame, printed, LIMITS, 10.0)


def fault(frame: bytes = b"", **fields: Any) -> tuple[str, str]:
    told = gave(frame, **fields)["fault"]
    return told["kind"], told["message"]


def test_an_answer_and_what_was_printed() -> None:
    assert gave(LINES, b"ab\xff cut", status=0) == {"lines": {}, "stdout": "ab\\xff "}


@pytest.mark.parametrize(
    ("status", "cpu_s", "kind", "says"),
    [
        (0, 0.0, "crash", "ended the whole program, without an error"),
        (3, 0.0, "crash", "ended the whole program, without an error"),
        (-11, 0.0, "crash", "(SIGSEGV)"),
        (-9, 0.1, "crash", "(SIGKILL)"),
        (-9, 2.1, "timeout", "2 s of processor time"),
        (-24, 0.0, "timeout", "2 s of processor time"),
        (-99, 0.0, "crash", "(signal 99)"),
        # An access violation, and a stack that has run over, as Windows tells of them.
        (0xC0000005, 0.0, "crash", "brought the program down (Windows exception C0000005)"),
        (0xC00000FD, 0.0, "crash", "(Windows exception C00000FD)"),
    ],
)
def test_a_process_that_gave_nothing(status: int, cpu_s: float, kind: str, says: str) -> None:
    told = fault(status=status, cpu_s=cpu_s)
    assert told[0] == kind
    assert says in told[1]


def test_an_answer_is_nothing_if_the_process_was_brought_down_after_it() -> None:
    assert fault(frame=LINES, status=-11)[0] == "crash"
    assert fault(frame=LINES, status=0xC0000005)[0] == "crash"


def test_time_and_memory() -> None:
    assert fault(timed_out=True) == ("timeout", "the harness did not come back within 10 s")
    assert fault(timed_out=True, status=-9)[0] == "timeout"
    assert fault(status=-9, out_of_memory=True) == ("memory", "the harness ran out of memory")


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (LINES * 2, "more than one answer"),
        (LINES[:-1], "a frame was cut"),
        (b"\0", "a frame was cut"),
        (wire.encode({"observation": "x" * 200}), "100 are allowed"),
        (wire.encode([]), "it is no answer"),
        (wire.encode({"lines": {}, "observation": 1}), "it is no answer"),
    ],
)
def test_an_answer_that_is_none(frame: bytes, says: str) -> None:
    kind, message = fault(frame=frame, status=0)
    assert kind == "protocol"
    assert says in message
