"""Machines that learn a value of positions, as a weight for every feature they see: Romgon's value learner."""
