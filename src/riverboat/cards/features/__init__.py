"""Features of hands: strength, histograms, and the raw material of card abstraction."""
