"""Hold'em games as a betting tree and boards, for solvers with vectors of hands."""
