"""Commands about files: convert, ship, sweep."""
