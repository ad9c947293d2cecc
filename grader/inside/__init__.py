"""What runs inside a room: the stage, which plays submissions, and the judge, which runs hidden tests.

Nothing outside imports this package. It needs `wire`, `records`, `errors` and the standard library;
the judge also pytest and pytest-json-report.
"""
