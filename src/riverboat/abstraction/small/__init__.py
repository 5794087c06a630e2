"""Card abstractions of small games."""
