"""Noughts and crosses, the game Donald Michie's MENACE learnt in 1961."""
