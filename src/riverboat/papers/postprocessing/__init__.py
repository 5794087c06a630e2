"""Purification and thresholding."""
