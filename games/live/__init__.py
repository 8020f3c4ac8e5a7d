"""Live play: rooms, matches, moves, and what sockets are told."""
