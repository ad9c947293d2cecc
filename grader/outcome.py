"""From what came out of a player's process to what a job gave. The same however it was started."""

from __future__ import annotations

import io
import signal
from typing import TYPE_CHECKING, Any

from grader import wire
from grader.carried import SceneFault, to_json
from grader.errors import WireError

if TYPE_CHECKING:
    from grader.carried import Limits, Seen

FORGED = "the harness wrote where only the grader writes: {}"
_NT_FAULT = 0xC0000000  # from here on Windows tells of a crash in the exit status itself


def answer(
    seen: Seen, frame: bytes, printed: bytes, limits: Limits, wall_s: float
) -> dict[str, Any]:
    """What the job gave, or the fault that kept it from giving anything; and what was printed.

    Args:
        seen: how it ended.
        frame: what it wrote where its answer belongs.
        printed: what it printed.
        limits: what it was allowed.
        wall_s: seconds on the clock that it had.
    """
    kept = printed[: limits.stdout_bytes]
    return {
        **_verdict(seen, frame, limits, wall_s),
        "stdout": kept.decode("utf-8", "backslashreplace"),
    }


def fault(kind: Any, message: str) -> dict[str, Any]:
    """A job that gave nothing, and why."""
    return {"fault": to_json(SceneFault(kind, message))}


def _verdict(seen: Seen, frame: bytes, limits: Limits, wall_s: float) -> dict[str, Any]:
    if seen.timed_out or seen.status is None:
        return fault("timeout", f"the harness did not come back within {wall_s:g} s")
    if seen.status != 0 or not frame:
        return _ended(seen, seen.status, limits)
    try:
        return _only_frame(frame, limits)
    except WireError as exc:
        return fault("protocol", FORGED.format(exc))


def _ended(seen: Seen, status: int, limits: Limits) -> dict[str, Any]:
    """Why a job that is gone gave nothing."""
    if seen.out_of_memory:
        return fault("memory", "the harness ran out of memory")
    by = _name_of_end(status)
    if by == "SIGXCPU" or (by == "SIGKILL" and seen.cpu_s >= limits.scene_cpu_s):
        return fault("timeout", f"the harness used up {limits.scene_cpu_s:g} s of processor time")
    if by:
        return fault("crash", f"the harness brought the program down ({by})")
    return fault("crash", "the harness ended the whole program, without an error")


def _name_of_end(status: int) -> str:
    """What ended a process: a signal, or what Windows calls a fault; "" where it left by itself."""
    if status >= _NT_FAULT:
        return f"Windows exception {status:08X}"
    if status >= 0:
        return ""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _only_frame(data: bytes, limits: Limits) -> dict[str, Any]:
    """The one answer in `data`.

    Raises:
        WireError: none, more than one, over the limit, or not a player's answer.
    """
    stream = io.BytesIO(data)
    outcome = wire.read_frame(stream.read, limits.frame_bytes)
    if stream.read(1):
        raise WireError("there is more than one answer")
    if not isinstance(outcome, dict) or len(outcome) != 1:
        raise WireError("it is no answer")
    return outcome
