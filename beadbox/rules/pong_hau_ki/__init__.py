"""Pong hau k'i: two stones each on five points; the side that is stuck loses."""
