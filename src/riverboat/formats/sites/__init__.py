"""Hand histories as poker sites write them, read to `TableHand` objects."""
