"""The command that explains strategies."""
