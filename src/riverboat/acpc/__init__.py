"""The ACPC protocol (dealer and client), and matches against web bots."""
