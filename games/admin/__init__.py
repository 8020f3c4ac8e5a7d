"""What the staff sees and does, a module a subject; Django finds them by importing this."""

from games.admin import rooms, tokens

__all__ = ["rooms", "tokens"]
