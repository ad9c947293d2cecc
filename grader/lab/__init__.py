"""The lab: what a harness is tried out on, without a network and without a model.

Students import it as ``lab``; the grading stage plays its scenes with it; the judge draws shapes
with it. It therefore imports next to nothing (``json``, ``collections.abc``), keeps no state of its
own, and does nothing on import. None of its modules may have the name of a module of the standard
library, because in a student's kit this folder can come first on ``sys.path``.
"""

from .driving import drive
from .messages import call, fail, reply, say, text, tool_result, user
from .model import ScriptedModel, forever
from .shell import Shell
from .transcript import shape, show
from .validation import validate
from .workspace import Workspace

__all__ = [
    "ScriptedModel",
    "Shell",
    "Workspace",
    "call",
    "drive",
    "fail",
    "forever",
    "reply",
    "say",
    "shape",
    "show",
    "text",
    "tool_result",
    "user",
    "validate",
]
