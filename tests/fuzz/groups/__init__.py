"""Groups of cases: each module has `cases()`."""
