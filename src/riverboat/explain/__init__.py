"""Strategies that a person can learn: rules, what following them costs, and comparisons."""
