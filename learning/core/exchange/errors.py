"""What a file is refused for: always a place and a reason."""

from __future__ import annotations

SHOWN = 60


class ExchangeError(ValueError):
    """A file, or a part of it, was refused. ``where`` is a line (``line 3``) or a path (``boxes[2].beads``)."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.where = where
        self.reason = reason


def shown(value: object) -> str:
    """The value as a message shows it: never longer than a line."""
    text = ascii(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
