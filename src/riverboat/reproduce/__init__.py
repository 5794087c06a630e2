"""The papers' tables and figures, ours beside theirs: one thin module for each."""
