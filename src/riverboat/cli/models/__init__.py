"""Commands about continuous games and tournaments."""
