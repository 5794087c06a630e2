"""Reports about strategies: nodes, runouts, comparisons, exports."""
