"""Achi, a game of Ghana: four stones each on nine points, placed and then moved."""
