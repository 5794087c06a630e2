"""The command line: one module per command, one folder per group of commands."""
