"""Commands that measure agents."""
