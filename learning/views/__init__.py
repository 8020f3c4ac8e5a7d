"""Pages, one module for each subject: each view parses, calls one service or selector, and answers."""
