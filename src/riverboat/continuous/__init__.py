"""Games with continuous signals: equilibria as thresholds, certified by exact best responses."""
