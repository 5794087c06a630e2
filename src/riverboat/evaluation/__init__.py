"""How good a strategy is: exact best responses in the real game, and matches."""
