"""Sessions, drills and reviews of the server."""
