"""`riverboat solve` for every kind of game."""
