"""Players: a batch of views of the table in, actions out."""
