"""SystemExit is no Exception; a grader that catches those only is left."""

import sys


def _attack(messages):
    sys.exit(0)
