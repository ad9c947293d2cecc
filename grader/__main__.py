"""`python -m grader` is `lab_check`."""

from grader.cli import main

main()
