"""Evaluation of strategies and agents: best responses, local best responses, matches, AIVAT, ledger, litmus checks."""
