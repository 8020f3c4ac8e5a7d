"""Hexapawn, the game that Martin Gardner invented in 1962 for a machine of 24 matchboxes."""
