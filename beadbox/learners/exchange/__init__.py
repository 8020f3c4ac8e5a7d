"""Machines as files: what a machine knows, written and read in several formats. Nothing here knows Django."""
