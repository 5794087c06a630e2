"""CFR on game trees, with best responses and textbook traces."""
