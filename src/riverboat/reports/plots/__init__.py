"""All plots."""
