"""Commands about continuous games, ICM, push/fold games and tournaments."""
