"""What to play on a board that somebody set up, and what the board is worth."""
