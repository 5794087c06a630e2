"""`riverboat show` for every kind of artifact."""
