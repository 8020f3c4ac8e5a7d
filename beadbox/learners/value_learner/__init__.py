"""A value of positions, linear in the features of an engine, learnt by temporal differences."""
