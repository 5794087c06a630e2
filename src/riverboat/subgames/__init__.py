"""Subgame solving: unsafe, re-solving, maxmargin, reach-maxmargin, nested and depth-limited."""
