"""Paper for a real machine: box fronts to glue on matchboxes, and the beads to buy. Nothing here knows Django."""
