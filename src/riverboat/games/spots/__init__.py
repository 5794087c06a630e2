"""Hold'em spots: a public state with a pot, stacks, two ranges and menus."""
