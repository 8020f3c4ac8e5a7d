"""Kinds of machine. Each kind answers the site's questions about its machines in one place."""
