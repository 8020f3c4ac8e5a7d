"""Dodgem: two cars each, one side drives to the right and the other up."""
