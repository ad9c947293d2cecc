"""The process is to go on into the program around it: the way out is taken away."""

import os
import sys

os._exit = lambda status: None
sys.exit = lambda status=0: None


def repair_tool_history(messages):
    return list(messages)
