"""Machines with boxes of beads: MENACE, HER, HexapawnRL and all that follow a rule of theirs."""
