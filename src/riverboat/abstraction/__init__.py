"""Card abstraction (maps from hands to buckets, their recipes and builds) and action translation."""
