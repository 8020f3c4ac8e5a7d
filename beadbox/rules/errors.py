"""What can be wrong with a move or a position. Every message carries the input and the position."""


class RulesError(ValueError):
    """Base of the errors that the rules raise; ``code`` is stable and may be scripted against."""

    code = "rules_error"

    @property
    def sentence(self) -> str:
        """The message as a whole sentence, for pages and answers."""
        text = str(self)
        return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


class InvalidMoveError(RulesError):
    """The text is not a move of this game at all."""

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


class UnknownGameError(RulesError):
    """No game has this slug; ``near`` is the one that it is most like, if it is like any."""

    code = "unknown_game"

    def __init__(self, message: str, near: str = "") -> None:
        super().__init__(message)
        self.near = near
