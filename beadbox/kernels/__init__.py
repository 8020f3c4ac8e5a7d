"""Compiled loops over arrays. A kernel takes arrays and a random source, and knows neither a game nor a machine."""
