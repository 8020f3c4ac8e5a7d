"""Reproducible experiments: each is a pure function of its seed and parameters, compared with published figures."""
