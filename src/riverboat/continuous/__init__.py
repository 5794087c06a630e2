"""Games with continuous signals: equilibria as thresholds, found by qualitative models, certified by exact responses."""
