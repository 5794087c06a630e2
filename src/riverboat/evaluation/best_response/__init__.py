"""Exact best responses to blueprints in the full game, and lower bounds on exploitability."""
