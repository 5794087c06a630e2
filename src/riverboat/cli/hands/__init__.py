"""Commands about hands on record."""
