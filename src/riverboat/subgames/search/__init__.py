"""Search at the table: subgames of a hand that is being played."""
