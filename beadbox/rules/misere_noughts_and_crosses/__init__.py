"""Misère noughts and crosses: three of one's own in a row lose."""
