"""Equities: how much of the pot a hand or a range wins when no more bets are made."""
