"""Search at the table: subgames of a hand in play."""
