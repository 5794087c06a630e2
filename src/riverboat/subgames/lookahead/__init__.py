"""Depth-limited solving and search on public trees: leaf values, one subgame, and the agent that searches everywhere."""
