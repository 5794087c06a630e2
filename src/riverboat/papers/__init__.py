"""Tables and figures of the papers, ours beside theirs: one module for each."""
