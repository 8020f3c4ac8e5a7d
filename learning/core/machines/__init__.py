"""Readable learners: what a box is, how a bead is drawn, what is learnt. No Django, no kernels."""
