"""Verbs of the library with typed options and results: abstract, train, match, respond, play, sweep."""
