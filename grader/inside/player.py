"""One job beside the submission: import it, or play scenes with it. Runs in a process of its own.

A job may be several scenes, those of one test, each with the submission imported afresh. The process is
over when the job is done, so nothing that a submission leaves behind reaches the next. What a job gives
is a dict with one key: `observation`, `observations`, `lines`, `code`, `problem` or `fault`.

Where the stage can fork, the process is a fork of it. Where it can't, `main` runs in an interpreter that
the stage has started (see `spawn`).
"""

from __future__ import annotations

import base64
import builtins
import gc
import marshal
import os
import signal
import sys
import types
from typing import TYPE_CHECKING, Any

from grader import wire
from grader.carried import Problem, SceneFault, to_json
from grader.errors import WireError
from grader.inside import system
from grader.inside.actor import (
    FILE,
    MODULE,
    Actor,
    StumbleError,
    fault_of,
    touches_submission,
    traceback_of,
    words_of,
)
from grader.inside.console import Console
from grader.inside.keep import take_in
from grader.inside.literals import as_literals
from grader.inside.plain import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.inside.keep import Keep

ANSWER_FD = 3  # where a player's answer goes
# A stage's first job. What takes longer is compiled for each scene, and runs out of time there.
COMPILE, COMPILE_S = {"op": "compile"}, 2.0
READY = b"!"  # what a player that was started, not forked, writes there before it gets its job
# The process goes on with these when the submission has had its way with `os`.
leave, _write = os._exit, os.write
_BUILTINS = dict(vars(builtins))
_NOT_INSTALLED = (
    "A lab has Python's standard library and `lab`; nothing else is installed where it is graded."
)
_NO_TYPING = (
    "Nobody can type while a lab is graded. Take the call out, or put it under"
    ' `if __name__ == "__main__":`.'
)


def prepare(keep: Keep) -> Console:
    """What can be done before there is a player: nothing of ours is left to import. Gives where prints go.

    A stage that forks does this once, for itself and every fork.
    """
    gc.enable()  # a room is started without: that much is imported faster
    # The rest is the stage's own: a MemoryError says where; the kernel's ending it doesn't.
    system.build_cage(keep.limits.memory_bytes * 7 // 8)
    console = Console(1, 8 * keep.limits.stdout_bytes)
    console.install()
    for name in [name for name in sys.modules if name.partition(".")[0] == "grader"]:
        del sys.modules[name]
    return console


def play(keep: Keep, console: Console, ready: Callable[[], object] = lambda: None) -> None:
    """Be a player: caged, take a job from standard input, do it, and write to ANSWER_FD what it gives.

    Args:
        keep: what is played. Nothing of the submission runs before there is a job.
        console: from `prepare`.
        ready: called when there is nothing left to do but wait.

    Raises:
        EOFError: there is no job.
    """
    os.closerange(ANSWER_FD + 1, 256)
    system.enter_cage(
        cpu_s=keep.limits.scene_cpu_s,
        processes=keep.processes,
    )
    code = marshal.loads(keep.code) if keep.code else None  # noqa: S302 - made by Python, in a fork
    ready()
    job = wire.read_trusted(_read_input)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(1, 2)
    rest = memoryview(answer(job, keep, code, console))
    while rest:
        rest = rest[_write(ANSWER_FD, rest) :]


def _read_input(count: int) -> bytes:
    return os.read(0, min(count, 1 << 16))


def main() -> None:
    """Do one job in an interpreter of its own. Standard error is where the answer goes.

    Standard input holds two frames: what the stage was told when it was opened, with "processes" and "code"
    as a `Keep` has them, and the job. What is printed goes to standard output.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        first = wire.read_trusted(_read_input)
    except EOFError:
        return  # no more scenes are wanted
    keep = take_in(first)
    keep.processes, keep.code = first["processes"], base64.b64decode(first["code"])
    os.dup2(2, ANSWER_FD)
    console = prepare(keep)
    try:
        play(keep, console, lambda: _write(ANSWER_FD, READY))
    finally:
        leave(0)  # also where the stage has gone, and there is no job


def answer(
    job: Mapping[str, Any], keep: Keep, code: types.CodeType | None, console: Console
) -> bytes:
    """Do `job` and encode what it gives as one frame, within the limit for frames.

    With "ahead", more scenes and their values, a job is several: what they give is one dict with
    `observations`, or that of the first that gave anything else.
    """
    if job.get("ahead"):
        outcome = _several([job, *job["ahead"]], keep, code, console)
    else:
        outcome = perform(job, keep, code, console)
    console.flush_streams()
    try:
        frame = wire.encode(outcome)
    except WireError as exc:
        return wire.encode(_fault("scene", f"the scene's observation is not plain: {exc}"))
    if len(frame) > keep.limits.frame_bytes:
        return wire.encode(_too_large())
    return frame


def perform(
    job: Mapping[str, Any], keep: Keep, code: types.CodeType | None, console: Console
) -> dict[str, Any]:
    """Do `job`: {"op": "compile"}, {"op": "load"} or {"op": "play", "scene": …, "given": {…}}.

    Args:
        job: what is to be done.
        keep: what it is done with.
        code: the submission, if it has been compiled before.
        console: where everything it prints goes.
    """
    if not (console.in_place() and vars(builtins) == _BUILTINS):
        leave(0)  # a scene before this one has seen to it: let each be played alone
    compiled = code or _compile(keep.source)
    if job["op"] == "compile":
        return _marshalled(compiled)
    loading = job["op"] == "load"
    if isinstance(compiled, Problem):
        return {"problem": to_json(compiled)} if loading else _fault("load", compiled.message)
    try:
        actor = Actor.load(compiled, keep.source, console)
    except StumbleError as stumble:
        return {"problem": to_json(_import_problem(stumble))} if loading else _told(stumble)
    if loading:
        return {"lines": _lines(compiled)}
    console.since_last()
    if job["scene"] not in keep.scenes:
        return _fault("scene", f"there is no scene {job['scene']!r}")
    return _play(keep.scenes[job["scene"]], actor, job["given"], keep.source)


def _several(
    jobs: list[Mapping[str, Any]], keep: Keep, code: types.CodeType | None, console: Console
) -> dict[str, Any]:
    observations = []
    for job in jobs:
        outcome = perform({**job, "op": "play"}, keep, code, console)
        if "observation" not in outcome:
            return outcome
        observations.append(outcome["observation"])
    return {"observations": observations}


def _play(
    scene: Callable[..., Any], actor: Actor, given: Mapping[str, Any], source: str
) -> dict[str, Any]:
    try:
        return {"observation": scene(actor, **as_literals(given))}
    except StumbleError as stumble:
        return _told(stumble)
    except TooLargeError:
        return _too_large()
    except BaseException as exc:
        if issubclass(type(exc), MemoryError):
            return _fault("memory", "the harness ran out of memory")
        if touches_submission(exc):
            return {"fault": to_json(fault_of(exc, source, "exception", MODULE))}
        return _fault("scene", _where(exc))


def _marshalled(compiled: types.CodeType | Problem) -> dict[str, Any]:
    if isinstance(compiled, Problem):
        return {"problem": to_json(compiled)}
    return {"code": base64.b64encode(marshal.dumps(compiled)).decode("ascii")}


def code_in(frame: bytes) -> bytes:
    """The code that the first job gave, for `marshal`; b"" where it gave none."""
    try:
        return base64.b64decode(wire.decode_trusted(frame[wire.HEADER.size :])["code"])
    except (WireError, KeyError):
        return b""


def _compile(source: str) -> types.CodeType | Problem:
    if "\0" in source:
        line = source.count("\n", 0, source.index("\0")) + 1
        return Problem(
            "syntax_error",
            f"Line {line} holds a NUL character, which no Python source may.",
            line,
            "The file may have been damaged on its way, or saved as UTF-16. Save it as UTF-8 text.",
        )
    try:
        return compile(source, FILE, "exec", dont_inherit=True)
    except SyntaxError as exc:
        text = (exc.text or "").strip()
        where = f"Line {exc.lineno}" if exc.lineno else "The file"
        return Problem(
            "syntax_error",
            f"{where} is not Python: {exc.msg}" + (f"\n    {text[:300]}" if text else ""),
            exc.lineno,
            "Python could not read the file, so no test was run. Mend this line first.",
        )
    except (ValueError, OverflowError, RecursionError, MemoryError) as exc:
        return Problem(
            "syntax_error",
            f"Python can't compile the file: {type(exc).__name__}: {exc}"[:300],
            None,
            "Some expression in it is too large or too deeply nested.",
        )


def _import_problem(stumble: StumbleError) -> Problem:
    cause, fault = stumble.__cause__, stumble.fault
    line = f"\n    {fault.traceback[-1]}" if fault.traceback else ""
    advice = "No test was run: every test imports the file first. Try `python harness.py`."
    if isinstance(cause, ImportError):
        advice = _NOT_INSTALLED
    elif isinstance(cause, EOFError):
        advice = _NO_TYPING
    elif isinstance(cause, SystemExit):
        advice = "A file that is imported must not end the program."
    message = fault.message[:1].upper() + fault.message[1:]
    return Problem("import_error", message + line, fault.line, advice)


def _lines(code: types.CodeType) -> dict[str, int]:
    """Where each function and class of the module begins, by qualified name; the last one wins."""
    found: dict[str, int] = {}
    todo = [code]
    while todo:
        for const in todo.pop().co_consts:
            if isinstance(const, types.CodeType) and not const.co_name.startswith("<"):
                if "<locals>" not in const.co_qualname and len(found) < 2000:
                    found[const.co_qualname] = const.co_firstlineno
                todo.append(const)
    return found


def _where(exc: BaseException) -> str:
    trace = traceback_of(exc)
    place = ""
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{place}: {words_of(exc)}"[:500]


def _too_large() -> dict[str, Any]:
    return _fault("output", "the harness built more than a test can take (1 MiB)")


def _told(stumble: StumbleError) -> dict[str, Any]:
    return {"fault": to_json(stumble.fault)}


def _fault(kind: Any, message: str) -> dict[str, Any]:
    return {"fault": to_json(SceneFault(kind, message))}
