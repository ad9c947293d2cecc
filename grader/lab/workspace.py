"""A folder of text files that exists only in memory."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Workspace"]


class Workspace:
    """The files that a lab's tools read and write.

    Paths are relative, with ``/`` between the parts; ``./a.py`` is ``a.py``. A folder exists while
    a file lies in it.

    Args:
        files: path -> text, what the folder holds at first (pages 7, 9 and 10).

    Raises:
        TypeError: a path or a text is not a string.
        ValueError: a path leads out of the workspace.
        OSError: two paths are at odds: one file lies inside another.
    """

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        """Put the first files in place; they do not count as writes."""
        self._files: dict[str, str] = {}
        self._writes: list[str] = []
        for path, content in (files or {}).items():
            self._put(path, content)

    @property
    def writes(self) -> list[str]:
        """The paths written to so far, oldest first, one entry a write (a copy).

        Page 10, Card 5 shows it empty; what an entry is, the pages leave open.
        """
        return list(self._writes)

    def exists(self, path: str) -> bool:
        """Say whether a file or folder has this path; a path that leads outside never does."""
        try:
            name = _normal(path)
        except ValueError:
            return False
        return name in self._files or self._is_folder(name)

    def read_text(self, path: str) -> str:
        """Give the text of a file.

        Raises:
            FileNotFoundError: nothing has this path.
            IsADirectoryError: a folder has it.
            ValueError: it leads out of the workspace.
        """
        name = _normal(path)
        if name in self._files:
            return self._files[name]
        if self._is_folder(name):
            raise IsADirectoryError(f"Is a directory: {path}")
        raise FileNotFoundError(f"File not found: {path}")

    def write_text(self, path: str, content: str) -> None:
        """Create a file, or replace all of its text.

        Raises:
            TypeError: path or content is not a string.
            IsADirectoryError: a folder has this path.
            NotADirectoryError: a part of the path is a file.
            ValueError: it leads out of the workspace.
        """
        self._writes.append(self._put(path, content))

    def listdir(self, path: str = ".") -> list[str]:
        """List the names in a folder, sorted, each once, folders without a mark.

        The pages leave the order open; sorted, so that an error text that lists the files
        (``Files here: ...``) does not depend on how they came to be.

        Raises:
            FileNotFoundError: no folder has this path. The root is always there.
            ValueError: it leads out of the workspace.
        """
        name = _normal(path)
        if not self._is_folder(name):
            raise FileNotFoundError(f"No such directory: {path}")
        start = f"{name}/" if name else ""
        return sorted({f[len(start) :].split("/")[0] for f in self._files if f.startswith(start)})

    def _is_folder(self, name: str) -> bool:
        return not name or any(file.startswith(f"{name}/") for file in self._files)

    def _put(self, path: str, content: str) -> str:
        name = _normal(path)
        if not isinstance(content, str):
            raise TypeError(f"a file holds a string, not a value of type {type(content).__name__}")
        if self._is_folder(name):
            raise IsADirectoryError(f"Is a directory: {path}")
        parts = name.split("/")
        if any("/".join(parts[:n]) in self._files for n in range(1, len(parts))):
            raise NotADirectoryError(f"Not a directory: {path}")
        self._files[name] = content
        return name


def _normal(path: str) -> str:
    """Bring a path into its one spelling; the root is the empty string."""
    if not isinstance(path, str):
        raise TypeError(f"a path is a string, not a value of type {type(path).__name__}")
    parts = path.split("/")
    if path.startswith("/") or ".." in parts:
        raise ValueError(f"Outside the workspace: {path}")
    return "/".join(part for part in parts if part not in ("", "."))
