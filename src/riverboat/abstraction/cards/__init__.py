"""Card abstractions of whole games, and look-up of buckets."""
