"""Endgame database: solved river subgames, looked up by equity distributions."""
