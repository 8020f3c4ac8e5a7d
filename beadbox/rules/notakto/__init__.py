"""Notakto: both sides write crosses, and three in a row lose."""
