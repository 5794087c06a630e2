"""`riverboat serve`: a web page for people, and the same as an HTTP API under `/api/`."""
