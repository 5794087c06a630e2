"""Routes of the API, one module per part of the page."""
