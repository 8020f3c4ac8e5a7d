"""Machines and fixed opponents as players in seats of live matches."""
