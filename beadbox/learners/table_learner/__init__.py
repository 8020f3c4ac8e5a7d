"""Tables of values learnt by the methods of the textbook, in games whose positions can be listed."""
