"""Machines that learn a table of values by a textbook method, in games with a list of all boards."""
