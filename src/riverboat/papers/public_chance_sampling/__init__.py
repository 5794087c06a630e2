"""Public chance sampling (Johanson et al. 2012)."""
