"""What a hidden test will ask of the stage, found out by walking it through where nobody plays.

A test asks with values of its own, never with what it has seen. So what it will ask is known once it has
been run with observations that have the right shape and nothing in them, and with expectations that let
everything pass. Nothing rests on it but time: whoever is told plays what was foreseen at once, and a test
that asks for something else is played as it asks.
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.inside.draw import Draw
    from grader.inside.testing import Shapes

_MOST = 100  # questions: a test that is still asking then goes by what it sees
_PATIENCE_S = 0.5  # so does one that is still at it then


def rehearsed(
    test: Callable[..., object], names: Iterable[str], draw: Draw, shapes: Shapes
) -> list[dict[str, Any]]:
    """The questions that a test will ask: each with "scene" and "given".

    One that can't be walked to its end, because it goes by what it sees, is known up to there.

    Args:
        test: the test's function.
        names: of its arguments. A test that wants more than `play`, `draw` and `expect` is not walked through.
        draw: gives the values that the test will draw.
        shapes: how each scene writes down what it saw.
    """
    play = _Play(shapes)
    parts = {"play": play, "draw": draw, "expect": _Expect()}
    # Whatever it raises: if it is the test's own, the test will come to it. pytest's are no `Exception`s.
    with contextlib.suppress(BaseException), _patience():
        test(**{name: parts[name] for name in names})
    return play.asked


def hollow(shape: Any) -> Any:
    """Something that fits a shape (see `compare.fits`), of several the last."""
    if isinstance(shape, type):
        return None if shape is object else shape()
    if isinstance(shape, tuple):
        return hollow(shape[-1])
    if isinstance(shape, dict):
        return {key: hollow(one) for key, one in shape.items()}
    if isinstance(shape, list):
        return [hollow(one) for one in shape if one is not ...]
    return shape


class _EnoughError(BaseException):
    """The walk is given up."""


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    """Give up a test that goes round and round; where there is no such clock (Windows), the judge's own ends it."""
    walking = True

    def enough(_signal: int, _frame: object) -> None:
        if walking:
            raise _EnoughError

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, enough)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S)
    try:
        yield
    finally:
        walking = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Play:
    """Takes the part of `testing.Play`."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self.asked: list[dict[str, Any]] = []

    def case(self, **_: object) -> None:
        """Nothing will be said of it."""

    def __call__(self, scene: str, **given: Any) -> Any:
        self.asked.append({"scene": scene, "given": given})
        if len(self.asked) == _MOST:
            raise _EnoughError
        shape = self._shapes.get(scene)
        return None if shape is None else hollow(shape(**given))


class _Expect:
    """Takes the part of `testing.Expect`."""

    def equal(self, *_: object, **__: object) -> None:
        """It may be so."""

    holds = fail = equal
