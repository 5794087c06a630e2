"""JSON views of nodes for the page."""
