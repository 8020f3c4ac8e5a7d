"""Machines that learn a table of values by a method of the textbook, in games whose boards can be listed."""
