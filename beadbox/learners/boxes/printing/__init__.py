"""Boxes on paper: fronts to glue on matchboxes, and the beads to buy."""
