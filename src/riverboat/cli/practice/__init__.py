"""Commands to practise with: drills and charts."""
