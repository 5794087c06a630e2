"""CFR on betting × boards: spots and whole hold'em games."""
