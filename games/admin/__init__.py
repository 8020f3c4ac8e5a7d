"""What the staff sees and does, a module a subject; Django finds them by importing this."""

from games.admin import blocks, rooms, tokens

__all__ = ["blocks", "rooms", "tokens"]
