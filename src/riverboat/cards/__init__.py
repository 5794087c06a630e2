"""Everything that is true of a deck whatever the betting."""
