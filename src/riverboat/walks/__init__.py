"""Engines: vectors of hands over betting × boards. They own their tables and know nothing of runs or files."""
