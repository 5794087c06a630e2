"""Files in and out: ACPC logs, PHH, Gambit, OpenSpiel, other solvers, spot files."""
