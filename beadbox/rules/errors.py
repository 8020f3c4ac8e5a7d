"""Errors of moves, positions and games. Each message quotes the input, and for a move the position."""

from beadbox.errors import BeadboxError, UnknownNameError


class RulesError(BeadboxError):
    """Base class of the errors that the rules raise. ``code`` is stable, so programs may rely on it."""

    code = "rules_error"

    @property
    def sentence(self) -> str:
        """The message as a complete sentence, for pages and API responses."""
        text = str(self)
        return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


class InvalidMoveError(RulesError):
    """The text is not a move of this game in any position."""

    code = "invalid_move"


class IllegalMoveError(RulesError):
    """The move exists in this game, but not in this position."""

    code = "illegal_move"


class InvalidPositionError(RulesError):
    """The text is not a position that this game can reach."""

    code = "invalid_position"


class InvalidSizeError(RulesError):
    """The game is not played on a board of this size."""

    code = "invalid_size"


class UnknownGameError(RulesError, UnknownNameError):
    """No game has this slug. ``near`` is the most similar slug, or empty."""

    code = "unknown_game"

    def __init__(self, message: str, near: str = "") -> None:
        super().__init__(message)
        self.near = near
