"""Tabular Q-learning over the action values of an engine."""
