"""Commands about ranges and equities."""
