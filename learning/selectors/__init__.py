"""Reads, in a fixed number of queries, a module a subject."""
