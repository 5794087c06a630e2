"""Reports about strategies: nodes, runouts, comparisons and exports."""
