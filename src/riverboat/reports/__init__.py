"""Page of the ledger, and data of plots of strength and card abstractions."""
