"""Machines that learn a value of positions, with a weight for every feature of a position: Romgon's value learner."""
