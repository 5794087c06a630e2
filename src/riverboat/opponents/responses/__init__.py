"""Responses to models: restricted Nash, data-biased, best responses."""
