"""The ACPC protocol and web bots: dealer and clients."""
