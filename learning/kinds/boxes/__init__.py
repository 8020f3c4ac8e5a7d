"""Machines with boxes of beads: MENACE, HER, HexapawnRL and other machines with such a rule."""
