"""Best responses to blueprints in the full game: exact, and lower bounds."""
