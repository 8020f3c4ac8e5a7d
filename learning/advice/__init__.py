"""Advice on a given board: the move to play, and the value of the position."""
