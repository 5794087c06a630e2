"""Strategies: tables, solutions, blueprints, and policies for the full game."""
