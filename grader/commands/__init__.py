"""The larger commands, each a click command that parses, calls and prints."""
