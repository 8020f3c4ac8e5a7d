"""Romgon: rhombuses race across 51 hexes for the other side's home."""
