"""Features of hands for card abstraction: strength, histograms, OCHS."""
