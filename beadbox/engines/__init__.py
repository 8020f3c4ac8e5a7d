"""Engines: what searches a game too large for boxes. Pure Python; a folder for each game."""
