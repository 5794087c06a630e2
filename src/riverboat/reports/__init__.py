"""Reports for people: plots of abstractions, runs, agents and explanations."""
