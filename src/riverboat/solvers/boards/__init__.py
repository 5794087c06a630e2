"""CFR on betting trees × boards: hold'em spots and whole hold'em games."""
