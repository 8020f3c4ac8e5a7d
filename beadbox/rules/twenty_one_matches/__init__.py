"""21 matches: take one, two or three; the last match loses."""
