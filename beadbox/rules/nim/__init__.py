"""Nim 3-3-3: take any number of counters from one heap; the last counter wins."""
