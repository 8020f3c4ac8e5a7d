"""Players to train against that never learn. Each knows only the rules interface."""
