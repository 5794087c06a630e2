"""`riverboat show` for every kind of artefact."""
