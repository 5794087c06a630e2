"""How good a strategy is: best responses, local best responses, matches, ledger."""
