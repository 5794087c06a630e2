"""The command line: thin translators."""
