"""Pairings, games, ratings and standings of tournaments, as functions without side effects."""
