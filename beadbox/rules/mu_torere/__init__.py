"""Mū tōrere: four stones each on a circle of eight points and its centre; the side that is stuck loses."""
