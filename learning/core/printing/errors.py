"""What cannot be printed, and why."""


class PrintingError(ValueError):
    """These boxes cannot be put on this paper."""
