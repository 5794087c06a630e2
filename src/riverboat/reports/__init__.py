"""Reports: tables and Markdown page of a ledger, and plots of card abstractions."""
