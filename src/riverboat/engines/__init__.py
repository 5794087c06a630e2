"""Compiled traversals with vectors of hands or sampled deals. They own their tables and know nothing of runs or files."""
