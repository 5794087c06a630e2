"""Practice: sittings, reviews of decisions by EV lost, drills with a record, charts."""
