"""Hold'em games as betting × boards, for solvers with vectors of hands."""
