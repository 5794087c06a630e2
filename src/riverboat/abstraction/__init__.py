"""Card abstraction and action abstraction: hands to buckets, bet sizes to menus, and translation."""
