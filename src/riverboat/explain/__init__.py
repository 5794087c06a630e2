"""Strategies that a person can learn: rules, what following them costs, comparisons, and why a hand is played as it is."""
