"""Experiments that anyone can run again: each a pure function of its seed and parameters, with the published figure."""
