"""Safe exploitation: ε-safe best responses, gifts, and budgets."""
