"""Propositions and examples of the proposal."""
