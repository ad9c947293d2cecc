"""`python -m grader` is `lab_check`."""

from grader.start import main

main()
