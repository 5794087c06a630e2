"""Human-readable strategies: rule lists, their fidelity and cost, comparisons, and EV breakdowns."""
