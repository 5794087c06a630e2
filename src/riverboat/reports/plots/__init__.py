"""Plots as matplotlib figures and image files."""
