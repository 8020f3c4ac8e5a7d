"""Kinds of machine: what the rest of the site asks of a machine is answered here, by its kind, and nowhere else."""
