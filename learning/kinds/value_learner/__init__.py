"""Machines that learn a value of positions, as a weight for everything they see: Romgon's value learner."""
