"""Games with continuous signals."""
