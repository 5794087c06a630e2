"""Commands about endgame databases."""
