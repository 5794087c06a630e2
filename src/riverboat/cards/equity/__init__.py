"""Equities: expected shares of the pot when no more bets are made."""
