"""Hare and hounds: three hounds hunt one hare on eleven points."""
