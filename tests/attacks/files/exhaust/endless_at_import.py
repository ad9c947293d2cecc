"""Never gets as far as a test."""

while True:
    pass
