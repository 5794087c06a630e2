"""Linear programs, the excessive gap technique, mixed integer programs."""
