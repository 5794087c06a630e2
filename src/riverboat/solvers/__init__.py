"""Schedules, traversals, run loops, and the solvers behind them."""
