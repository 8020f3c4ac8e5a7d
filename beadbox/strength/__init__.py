"""Strength: exact over the canonical graph, sampled with its uncertainty, and as an Elo rating."""
