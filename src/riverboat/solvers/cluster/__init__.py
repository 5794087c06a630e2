"""Distributed blueprint training: one head and several blades, in one process or on Ray."""
