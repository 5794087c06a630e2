"""Compiled traversals of betting tree × buckets for sampled CFR."""
