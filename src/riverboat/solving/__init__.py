"""Regret schedules, traversals, best responses, LP and EGT, and the run loop."""
