"""The result of a training, with its tallies after several numbers of games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from beadbox.rules.outcome import Tally


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """The results of one call of ``train``, from the view of the machine.

    Attributes:
        against: the name of the opponent, or of its class.
        seed: the seed of the training; ``None`` if the training used the machine's random state.
        tallies: wins, draws and losses since the start of the training, recorded after 1, 2, 5, 10, 20, 50, … games and
            after the last game.
    """

    against: str
    seed: int | None
    tallies: tuple[tuple[int, int, int], ...] = ()

    @property
    def games(self) -> int:
        """The number of games that were played."""
        return sum(self.tallies[-1]) if self.tallies else 0

    @property
    def wins(self) -> int:
        """The number of games of this training that the machine won."""
        return self.tallies[-1][0] if self.tallies else 0

    @property
    def draws(self) -> int:
        """The number of games of this training that were drawn."""
        return self.tallies[-1][1] if self.tallies else 0

    @property
    def losses(self) -> int:
        """The number of games of this training that the machine lost."""
        return self.tallies[-1][2] if self.tallies else 0

    def rows(self) -> list[dict[str, int]]:
        """Return a dictionary for each recorded number of games; a data frame can be made from the list.

        The keys are ``games``, ``wins``, ``draws`` and ``losses``, counted from the start of the training.
        """
        names = ("wins", "draws", "losses")
        return [{"games": sum(tally), **dict(zip(names, tally, strict=True))} for tally in self.tallies]


def recording_marks(games: int) -> Iterator[int]:
    """Yield the numbers of games after which a training records its results: 1, 2, 5, 10, … and the last."""
    power = 1
    while power < games:
        yield from (power * step for step in (1, 2, 5) if power * step < games)
        power *= 10
    yield games


def add_present_tally(tallies: Sequence[tuple[int, int, int]], tally: Tally) -> tuple[tuple[int, int, int], ...]:
    """Return the recorded tallies and the present one, which is not repeated if it has just been recorded."""
    present = (tally.wins, tally.draws, tally.losses)
    return (*tallies,) if tallies and tallies[-1] == present else (*tallies, present)
