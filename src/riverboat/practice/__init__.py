"""Practice: sessions, decision reviews, drills with a record, charts."""
