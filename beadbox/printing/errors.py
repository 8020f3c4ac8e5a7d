"""Errors for prints that are refused."""


class PrintingError(ValueError):
    """The boxes cannot be printed, for example because they do not fit on the paper."""


class ManyBeadsError(PrintingError):
    """The boxes need ``n_beads`` beads, more than most people have. Before training, they needed ``n_start``."""

    def __init__(self, n_beads: int, n_start: int) -> None:
        super().__init__(f"This print needs {n_beads:,} beads.")
        self.n_beads = n_beads
        self.n_start = n_start
