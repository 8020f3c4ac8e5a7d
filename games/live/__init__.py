"""Live play: rooms, matches, moves and the messages to sockets."""
