"""Action abstraction: translation of off-tree actions."""
