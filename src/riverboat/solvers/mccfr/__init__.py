"""Trainers of blueprints by Monte Carlo CFR."""
