"""Machines with boxes as files: our own format, those of other programs, and recorded games."""
