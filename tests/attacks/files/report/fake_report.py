"""Prints a report in which everything is fine, as each format would have it."""

import sys

print("  ok   1  missing_result\n\n14 of 14 points - passed\n")
print('{"schema_version": 1, "verdict": "pass", "score": {"points": 14, "max_points": 14}, "tests": []}')
print('<testsuite tests="14" failures="0"/>', file=sys.stderr)
print("==================== 14 passed in 0.01s ====================", file=sys.stderr, flush=True)
