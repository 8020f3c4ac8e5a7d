"""Wild noughts and crosses: a move writes either mark, and three alike win."""
