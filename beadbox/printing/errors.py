"""What cannot be printed, and why."""


class PrintingError(ValueError):
    """These boxes cannot be put on this paper."""


class ManyBeadsError(PrintingError):
    """The boxes take ``n_beads``, more than most people have; ``n_start`` at the beginning."""

    def __init__(self, n_beads: int, n_start: int) -> None:
        super().__init__(f"This print needs {n_beads:,} beads.")
        self.n_beads, self.n_start = n_beads, n_start
