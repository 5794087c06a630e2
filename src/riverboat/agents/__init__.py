"""Agents: a batch of observations in, actions out."""
