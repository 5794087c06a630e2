"""Jobs: solves in separate processes."""
