"""Fixed policies: opponents that never learn. Each knows only the rules interface."""
