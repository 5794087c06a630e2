"""The command line: one module for each command, one folder for each group."""
