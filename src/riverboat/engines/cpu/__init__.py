"""Betting × boards on processors."""
