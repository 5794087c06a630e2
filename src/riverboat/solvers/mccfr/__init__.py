"""Blueprint trainers by Monte Carlo CFR."""
