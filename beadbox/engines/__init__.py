"""Engines: search programs for games that are too large for boxes. One folder for each family of games."""
