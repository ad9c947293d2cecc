"""The submission as a scene may use it: loaded once, called only through checks.

A scene gets an `Actor` and does everything that touches the submission through it. Whatever the
submission raises, returns or lacks becomes a `StumbleError`, the submission's own fault with the
student's line; an exception that gets past the actor is the scene's fault, and so is ours.
"""

from __future__ import annotations

import re
import sys
import types
from typing import TYPE_CHECKING, Any

from grader.carried import SceneFault
from grader.inside.plain import describe, has, name_of, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.inside.console import Console

MODULE = "harness"
FILE = "harness.py"
_MAX_TEXT = 2000  # characters kept of an exception's own words
_MAX_FRAMES = 12
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
# An exception's own slots: a class of the submission's may have something else by these names.
traceback_of = BaseException.__dict__["__traceback__"].__get__
_code_of = SystemExit.__dict__["code"].__get__
_name_of_error = NameError.__dict__["name"].__get__


class StumbleError(Exception):
    """The submission can't go on with this scene; `fault` says why."""

    def __init__(self, fault: SceneFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Actor:
    """A loaded submission.

    Args:
        module: the submission's module, its body executed.
        source: its text, for the lines of tracebacks.
        console: where everything it prints goes.
    """

    def __init__(self, module: types.ModuleType, source: str, console: Console) -> None:
        self._module = module
        self._source = source
        self._console = console

    @classmethod
    def load(cls, code: types.CodeType, source: str, console: Console) -> Actor:
        """Execute the submission's module body.

        Raises:
            StumbleError: it raised, or called sys.exit; kind "load".
        """
        module = types.ModuleType(MODULE)
        module.__file__ = FILE
        sys.modules[MODULE] = module
        try:
            exec(code, module.__dict__)
        except BaseException as exc:
            raise StumbleError(fault_of(exc, source, "load", "importing harness.py")) from exc
        return cls(module, source, console)

    # --- what the submission has -----------------------------------------------------------------

    def need(self, name: str) -> Any:
        """What the submission calls `name`; a dotted name looks inside, as in "Harness.prompt".

        Raises:
            StumbleError: kind "missing_name".
        """
        value: Any = self._module
        for part in name.split("."):
            try:
                value = getattr(value, part)
            except BaseException as exc:
                raise StumbleError(
                    SceneFault("missing_name", f"harness.py has no {name}.", name=name)
                ) from exc
        return value

    def call(self, what: str, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call into the submission. `what` names the call for the message, as in "Harness(…)".

        Raises:
            StumbleError: it raised something; kind "exception", or "memory" for a MemoryError.
        """
        try:
            return function(*args, **kwargs)
        except BaseException as exc:
            raise StumbleError(fault_of(exc, self._source, "exception", what)) from exc

    def attribute(self, what: str, owner: Any, name: str) -> Any:
        """An attribute of an object of the submission's.

        Raises:
            StumbleError: kind "missing_name" where it isn't there, "exception" where reading it raised.
        """
        try:
            return getattr(owner, name)
        except AttributeError as exc:
            if _frames(exc):
                raise StumbleError(fault_of(exc, self._source, "exception", what)) from exc
            raise StumbleError(
                SceneFault(
                    "missing_name", f"{what} has no {name}.", name=f"{type(owner).__name__}.{name}"
                )
            ) from exc
        except BaseException as exc:
            raise StumbleError(fault_of(exc, self._source, "exception", what)) from exc

    def raised(self, what: str, function: Any, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """As `call`, but an exception is what the scene wants to see: its type and text, or None."""
        try:
            function(*args, **kwargs)
        except Exception as exc:
            fault = fault_of(exc, self._source, "exception", what)
            return {"type": name_of(type(exc)), "text": _words(exc), "line": fault.line}
        except BaseException as exc:
            raise StumbleError(fault_of(exc, self._source, "exception", what)) from exc
        return None

    # --- runs of events ---------------------------------------------------------------------------

    def events(self, what: str, run: Any, stop_after: int | None = None) -> Iterator[Any]:
        """Take a run's events one by one, and close the run after `stop_after` of them.

        Args:
            what: what gave the run, for messages, as in "run_agent(…)".
            run: what it gave: any iterator will do, and one that is to be closed early needs close().
            stop_after: how many events to take; None: all there are.

        Raises:
            StumbleError: not an iterator, no close(), or the submission raised on the way.
        """
        if not has(type(run), "__next__"):
            raise self.wrong(f"{what} returned {describe(run)}, not a generator of events")
        taken = 0
        while stop_after is None or taken < stop_after:
            try:
                event = next(run)
            except StopIteration:
                return
            except BaseException as exc:
                raise StumbleError(fault_of(exc, self._source, "exception", what)) from exc
            taken += 1
            yield event
        if not has(type(run), "close"):
            raise self.wrong(f"{what} returned {describe(run)}, which has no close()")
        self.call(f"close() on the run of {what}", run.close)

    def wrong(self, message: str) -> StumbleError:
        """What a scene raises when what the submission handed back can't be played on with."""
        return StumbleError(SceneFault("rule", message + "."))

    # --- writing down ----------------------------------------------------------------------------

    def plain(self, value: Any) -> Any:
        """`value` as plain data, as it is now. See `grader.inside.plain`."""
        return plain(value)

    def same(self, items: Any, among: Any) -> list[int | None]:
        """For each of `items`, the index of that very object in `among`; None where it isn't there."""
        where = {id(item): index for index, item in reversed(list(enumerate(among)))}
        return [where.get(id(item)) for item in items]

    def printed(self) -> str:
        """What has been printed, to standard output and error, since this was last asked."""
        return self._console.since_last()


def fault_of(exc: BaseException, source: str, kind: Any, what: str) -> SceneFault:
    """What a submission's exception says: its kind, its words, and the student's own lines."""
    if issubclass(type(exc), StumbleError):  # asked of the type: what __class__ says may be a lie
        known: SceneFault = exc.fault  # type: ignore[attr-defined]
        return known
    frames = _frames(exc)
    name = ""
    if issubclass(type(exc), MemoryError):
        kind, words = "memory", "it ran out of memory"
    elif issubclass(type(exc), SystemExit):
        code = _code_of(exc)
        words = f"it called sys.exit({'' if code is None else _text(repr, code)})"
    else:
        words = f"it raised {words_of(exc)}"
        if type(exc) is NameError and type(_name_of_error(exc)) is str:
            name = _name_of_error(exc)
    lines = source.split("\n")
    told = [
        f"{FILE}:{line} in {name}: {lines[line - 1].strip() if 0 < line <= len(lines) else ''}"
        for name, line in frames[-_MAX_FRAMES:]
    ]
    return SceneFault(
        kind,
        f"{what}: {words}",
        line=frames[-1][1] if frames else None,
        traceback=tuple(told),
        name=name,
    )


def touches_submission(exc: BaseException) -> bool:
    """Whether an exception passed through the submission's own lines."""
    return bool(_frames(exc))


def _frames(exc: BaseException) -> list[tuple[str, int]]:
    frames = []
    trace = traceback_of(exc)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            frames.append((trace.tb_frame.f_code.co_name, trace.tb_lineno or 0))
        trace = trace.tb_next
    return frames


def words_of(exc: BaseException) -> str:
    """An exception's type and text, as the last line of a traceback has them."""
    return f"{name_of(type(exc))}: {_words(exc)}".rstrip(": ")


def _words(exc: BaseException) -> str:
    return _text(str, exc)


def _text(show: Callable[[Any], str], value: Any) -> str:
    """What `show`, str or repr, makes of a value that may fight back."""
    try:
        return _clip(str.__str__(show(value)))
    except BaseException:
        return "(its text can't be shown)"


def _clip(text: str) -> str:
    text = _ADDRESS.sub("0x…", text)
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + " …"
