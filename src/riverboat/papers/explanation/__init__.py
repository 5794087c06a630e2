"""Human-readable strategies: rules for small games, and minimum defence frequency."""
