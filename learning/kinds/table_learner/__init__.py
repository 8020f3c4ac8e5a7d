"""Machines that learn a table of values by a textbook method, in games with boards that can be listed."""
