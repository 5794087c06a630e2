"""JSON for the page."""
