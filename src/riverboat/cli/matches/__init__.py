"""Commands about matches and the ledger."""
