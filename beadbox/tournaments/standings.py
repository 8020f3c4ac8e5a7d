"""The table of a tournament: points, and the results of each entry against each other. A win is 1 point, a draw ½."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from beadbox.rules.outcome import Side


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a meeting: games won by the first side, drawn, and won by the second side.

    ``expected`` has the exact probabilities of these three results; ``None`` if they are unknown.
    """

    first: int
    second: int
    n_games: int
    first_wins: int
    draws: int
    second_wins: int
    expected: tuple[float, float, float] | None = None

    def for_entry(self, number: int) -> EntryResult:
        """Return the result as seen by the entry with this number."""
        is_first = number == self.first
        wins, losses = (self.first_wins, self.second_wins) if is_first else (self.second_wins, self.first_wins)
        expected = None
        if self.expected is not None:
            win, draw, _ = self.expected if is_first else self.expected[::-1]
            expected = (win + draw / 2) * self.n_games
        return EntryResult(self.second if is_first else self.first, self.n_games, wins, self.draws, losses, expected)


@dataclass(frozen=True, slots=True)
class EntryResult:
    """The result of a meeting as seen by one of its entries. ``expected`` is in points."""

    opponent: int
    games: int
    wins: int
    draws: int
    losses: int
    expected: float | None

    @property
    def points(self) -> float:
        """Points won: 1 for a win, ½ for a draw."""
        return self.wins + self.draws / 2


@dataclass(slots=True)
class Row:
    """An entry's line of the table. ``against`` has games, points and expected points against each other entry.

    Expected points are ``None`` if those of any included result are unknown.
    """

    number: int
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    expected: float | None = 0.0
    against: dict[int, tuple[int, float, float | None]] = field(default_factory=dict)
    place: int = 0

    @property
    def points(self) -> float:
        """Points won: 1 for a win, ½ for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Points per game, 0 to 1; 0 before the first game."""
        return self.points / self.games if self.games else 0.0


def table(
    numbers: Sequence[int], results: Iterable[Result], sides: Mapping[int, Side | None] | None = None
) -> list[Row]:
    """Return the lines of all entries: first those that play both sides, then the first side, then the second side.

    ``sides`` is the side that each entry plays, or ``None`` for both. Entries are ranked only among those with the same
    side, because the first side has an advantage. Points per game decide, and then wins per game, because numbers of
    games differ. Equal entries share the place, in the order of their numbers.
    """
    of_side = dict.fromkeys(numbers) | dict(sides or {})
    rows = {number: Row(number) for number in numbers}
    for result in results:
        for number in (result.first, result.second):
            row, entry_result = rows[number], result.for_entry(number)
            row.games += entry_result.games
            row.wins += entry_result.wins
            row.draws += entry_result.draws
            row.losses += entry_result.losses
            row.expected = _sum(row.expected, entry_result.expected)
            games, points, expected = row.against.get(entry_result.opponent, (0, 0.0, 0.0))
            row.against[entry_result.opponent] = (
                games + entry_result.games,
                points + entry_result.points,
                _sum(expected, entry_result.expected),
            )
    best_first = sorted(rows.values(), key=lambda row: (*_rank_key(row), -row.number), reverse=True)
    lines: list[Row] = []
    for side in (None, *Side):
        ranked = [row for row in best_first if of_side[row.number] == side]
        for index, row in enumerate(ranked):
            is_tied = index > 0 and _rank_key(row) == _rank_key(ranked[index - 1])
            row.place = ranked[index - 1].place if is_tied else index + 1
        lines += ranked
    return lines


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _rank_key(row: Row) -> tuple[bool, float, float]:
    return row.games > 0, row.score, row.wins / row.games if row.games else 0.0
