"""What a solver leaves and everyone else reads."""
