"""Rules of games as small immutable states."""
