"""Clustering of hands (k-means, potential-aware) and of public states."""
