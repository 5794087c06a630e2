"""Figures of results, and image files: the only package that imports matplotlib."""
