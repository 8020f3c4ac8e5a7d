"""Admin pages, one module per subject. The import registers them with Django."""

from games.admin import blocks, rooms, tokens

__all__ = ["blocks", "rooms", "tokens"]
