"""The base of the library's errors, and the errors that belong to no single package."""


class BeadboxError(ValueError):
    """Base class of the errors of this library. The message says what was wrong, and what would be right."""


class UnknownNameError(BeadboxError):
    """No game, side, preset, opponent or experiment has this name. The message suggests the most similar name."""


class PolicyError(BeadboxError):
    """The probabilities of a policy are no distribution over the legal moves."""


class FileError(BeadboxError):
    """A file holds no machine. The message names the place in the file, and what was expected there."""


class UnsupportedError(BeadboxError):
    """This game or machine cannot do what was asked. The message says why."""
