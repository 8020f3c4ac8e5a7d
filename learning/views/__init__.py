"""Pages, by subject: each parses, calls one service or selector, answers."""
