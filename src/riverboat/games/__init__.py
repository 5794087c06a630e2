"""Rules as small immutable states, and readers of other people's game files."""
