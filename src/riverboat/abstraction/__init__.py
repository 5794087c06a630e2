"""Maps that forget: hands to buckets, bet sizes to menus, and the way back."""
