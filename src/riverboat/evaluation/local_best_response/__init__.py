"""Local best response (Lisý and Bowling 2017)."""
