"""How fast the grader is, as ratios of two things measured in turn: `python -m benchmarks`."""
