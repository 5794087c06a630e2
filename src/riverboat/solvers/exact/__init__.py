"""Exact methods: linear programs, the excessive gap technique and mixed integer programs."""
