"""`riverboat bench`."""
