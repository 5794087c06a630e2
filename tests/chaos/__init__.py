"""Processes are killed at random times and resumed: the result equals that of an uninterrupted run.

Times come from seeds. `make test-slow` runs all cases and ends with their counts.
"""
