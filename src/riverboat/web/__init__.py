"""`riverboat serve`: a page in the browser, and everything on it for scripts under `/api/`."""
