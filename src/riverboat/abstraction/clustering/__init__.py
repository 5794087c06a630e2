"""Clustering of hands: k-means, potential-aware, public clusters."""
