"""Cards, decks, hand ranking, isomorphism, ranges, equities and features: everything that does not depend on betting."""
