"""Colours of range grids and of cards, on the screen and in figures."""

DARK, LIGHT = "#23272e", "#eceef1"  # cells of zero weight: in terminals, on paper
INK, CHALK, PALE = "#16191d", "#f4f6f8", "#8b929c"  # text on light colours, on dark ones, in empty cells
WEIGHT_COLOUR = "#e9b44c"
FOLD_COLOUR, CALL_COLOUR = "#5b9bd9", "#63ba70"
RAISE_COLOURS = ("#f6b09c", "#e2503d", "#8f1518")  # small, middle, large
