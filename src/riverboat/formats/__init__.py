"""File formats: ACPC logs, PHH, Gambit, OpenSpiel, other solvers, spot files."""
