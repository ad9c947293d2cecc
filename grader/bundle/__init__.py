"""Autograders that a learning platform runs by itself: everything they need, packed into one file."""
