"""Machines that keep beads in boxes, such as MENACE and HER."""
