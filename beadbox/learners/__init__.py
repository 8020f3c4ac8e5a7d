"""Learners: their rules, their choice of moves, their learning, and their memory as arrays, without Django."""
