"""The container engine, through the `docker` SDK; and what to do about it when it does not play along.

A client is not safe to share between threads, so each user opens one of their own. That is cheap: the
engine's version is asked for once.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from grader.errors import RoomError
from grader.rooms.flags import CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

API_S = 60.0  # how long a request may take that makes or starts something
QUICK_S = 5.0  # how long one may take that only asks

_NOT_INSTALLED = "Install it: python -m pip install docker."
_NO_ENGINE = (
    "Start Docker (or Podman's socket), and set DOCKER_HOST if it listens elsewhere;"
    " --runner local needs no engine."
)
_NO_PERMISSION = (
    "Add your user to the group that owns the engine's socket (usually `docker`) and log in again,"
    " use a rootless engine by way of DOCKER_HOST, or take --runner local."
)
_DISK_FULL = (
    "Make room on the engine's disk, for instance with `docker system prune`, and try again."
)
_LOST_HELP = "See whether the engine still runs (`lab_check doctor`), and grade again."


class Engine:
    """Where an engine is, and which version of its interface it speaks.

    Raises:
        RoomError: no engine can be talked to; says why, and what to do about it.
    """

    def __init__(self) -> None:
        self._version: str | None = None
        with self.client(QUICK_S) as api:
            answer = api.get(f"{api.base_url}/_ping")
            answer.raise_for_status()
            # Asking for the version itself, as the SDK would, has the engine start three programs.
            self._version = answer.headers.get("Api-Version")
            if not self._version:
                self._version = api.version(api_version=False)["ApiVersion"]

    @contextlib.contextmanager
    def client(self, timeout_s: float = API_S) -> Iterator[Any]:
        """An `APIClient` for one thread, closed afterwards.

        Args:
            timeout_s: how long a single request may take, in seconds.

        Raises:
            RoomError: the engine does not answer or refuses; reason "open".
        """
        try:
            import docker  # noqa: PLC0415 - costs 0.15 s, and is not always installed
        except ImportError as exc:
            raise RoomError(
                "Python's `docker` package is not installed.", reason="open", help=_NOT_INSTALLED
            ) from exc
        api = None
        try:
            settings = docker.utils.kwargs_from_env()
            spoken = self._version or docker.constants.DEFAULT_DOCKER_API_VERSION
            api = docker.APIClient(version=spoken, timeout=timeout_s, **settings)
            yield api
        except (docker.errors.DockerException, OSError) as exc:  # requests' errors are OSErrors
            raise explained(exc) from exc
        finally:
            if api is not None:
                api.close()

    @property
    def name(self) -> str:
        """Which engine this is, such as "Docker Engine 20.10.24 (API 1.41)".

        Raises:
            RoomError: it does not say.
        """
        with self.client(QUICK_S) as api:
            about = api.version(api_version=False)
        parts = about.get("Components") or [{}]
        return f"{parts[0].get('Name', 'engine')} {about.get('Version', '?')} (API {self._version})"


def create(api: Any, image: str, flags: Mapping[str, Any]) -> str:
    """Create a container that is not started yet; gives its id.

    Args:
        api: a client.
        image: its id.
        flags: from `container_flags`.
    """
    host = api.create_host_config(**{k: v for k, v in flags.items() if k not in CONFIG})
    config = {name: value for name, value in flags.items() if name in CONFIG}
    # The user's proxies, which may hold a password, are none of a submission's business.
    made = api.create_container(image, host_config=host, use_config_proxy=False, **config)
    return str(made["Id"])


def remove(api: Any, container: str) -> None:
    """Kill and remove a container with its volumes. One that is gone, or going, is fine.

    Raises:
        docker.errors.APIError: the engine could not.
    """
    import docker  # noqa: PLC0415

    try:
        api.remove_container(container, force=True, v=True)
    except docker.errors.APIError as exc:
        gone = exc.status_code == 404 or "already in progress" in str(exc)
        if not gone:
            raise


def explained(exc: BaseException) -> RoomError:
    """An error of the engine's, or of the way to it, as one of ours that says what to do about it."""
    causes = list(_chain(exc))
    told = _sentence(exc, causes)
    text = " ".join(map(str, causes)).lower()
    if any(isinstance(cause, PermissionError) for cause in causes) or "permission denied" in text:
        return RoomError(
            "The container engine refuses this user.", reason="open", help=_NO_PERMISSION
        )
    if "no space left" in text or "disk quota" in text:
        return RoomError("The container engine's disk is full.", reason="open", help=_DISK_FULL)
    if "no such image" in text:
        return RoomError(f"An image is missing: {told}", reason="open", help=image_help())
    if getattr(exc, "response", None) is not None:  # it answered, and did not want to
        return RoomError(f"The container engine refused: {told}", reason="open", help=_LOST_HELP)
    if "timed out" in text or "timeout" in text:
        return RoomError(
            "The container engine did not answer in time.", reason="open", help=_LOST_HELP
        )
    return RoomError(f"No container engine answers: {told}", reason="open", help=_NO_ENGINE)


def image_help(*, stale: bool = False) -> str:
    """The command that mends the image."""
    return f"{'Build it again' if stale else 'Build it'}: lab_check image build."


def lost(what: str) -> RoomError:
    """A fault on our side of an open room: the engine's or its operator's, never the submission's."""
    return RoomError(what, reason="engine", help=_LOST_HELP)


def _chain(exc: BaseException | None) -> Iterator[BaseException]:
    """`exc`, what it came from, and what is wrapped in its arguments (as requests and urllib3 do)."""
    todo, seen = [exc], set[int]()
    while todo:
        here = todo.pop()
        if isinstance(here, BaseException) and id(here) not in seen:
            seen.add(id(here))
            yield here
            todo += [here.__cause__, here.__context__]
            todo += [arg for arg in here.args if isinstance(arg, BaseException)]
            todo += [a for arg in here.args if isinstance(arg, tuple) for a in arg]


def _sentence(exc: BaseException, causes: list[BaseException]) -> str:
    words = getattr(exc, "explanation", None)
    if not words:  # the system's own words, beneath those of three libraries
        plain = [
            cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror
        ]
        words = f"{plain[0].lower()} ({_address()})" if plain else str(exc)
    return str(words).strip().split("\n")[0][:300].rstrip(".") + "."


def _address() -> str:
    return os.environ.get("DOCKER_HOST") or "the default socket"
