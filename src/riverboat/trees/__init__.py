"""Games compiled to flat arrays, and trees made from trees."""
