"""Machines that keep beads in boxes: MENACE, HER and every rule between them."""
