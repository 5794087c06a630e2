"""Games: their rules as small immutable states, and their registry."""
