"""Every verb with typed options and results: abstract, train, match, respond, play, sweep."""
