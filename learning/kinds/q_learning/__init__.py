"""Machines that keep a value for every move they have tried: Romgon's Q-learner."""
