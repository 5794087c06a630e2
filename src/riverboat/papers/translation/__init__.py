"""Action translation."""
