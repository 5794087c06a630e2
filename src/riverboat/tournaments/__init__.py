"""Tournaments: the independent chip model, push or fold, and tournaments as stochastic games."""
