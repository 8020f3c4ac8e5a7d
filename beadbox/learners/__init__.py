"""Learners: their rules, how they choose and learn, and their memory as arrays, without Django."""
