"""CFR on trees of single games, best responses and traces."""
