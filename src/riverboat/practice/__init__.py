"""Practice: sessions against an agent, decision reviews, drills with a record, and charts."""
