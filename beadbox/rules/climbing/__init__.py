"""Ladder: climb one, two or three steps; the last step wins."""
