"""Jobs: solves in processes of their own."""
