"""Tournaments: chips as money, push or fold with any number of players, and whole tournaments as stochastic games."""
