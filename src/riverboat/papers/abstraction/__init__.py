"""Card abstraction: earth mover's distance, GameShrink, overfitting."""
