"""Solvers: schedules, traversals, the run loop, and CFR, MCCFR and exact methods."""
