"""Sampled CFR: baselines, CFR-BR, convergence."""
