"""Tables of values learnt by textbook methods, in games with positions that can be listed."""
