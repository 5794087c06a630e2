"""Processes are killed at random moments and resumed: what comes out is what an uninterrupted run has.

Moments come from seeds. `make test-slow` runs all cases and ends with their counts.
"""
