"""Trainers with a head and blades, on Ray."""
