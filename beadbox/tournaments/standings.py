"""The table of a tournament: points, and every entry's result against every other. A win is 1 point, a draw ½."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from beadbox.rules.outcome import Side


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one meeting: games won by the first side, drawn, won by the second; and its exact expectation.

    ``expected`` is the chance of each of the three; ``None`` while it is unknown.
    """

    first: int
    second: int
    n_games: int
    first_wins: int
    draws: int
    second_wins: int
    expected: tuple[float, float, float] | None = None

    def seen_by(self, number: int) -> Seen:
        """Return the result from the side of the entry with this number."""
        mine = number == self.first
        wins, losses = (self.first_wins, self.second_wins) if mine else (self.second_wins, self.first_wins)
        expected = None
        if self.expected is not None:
            win, draw, _ = self.expected if mine else self.expected[::-1]
            expected = (win + draw / 2) * self.n_games
        return Seen(self.second if mine else self.first, self.n_games, wins, self.draws, losses, expected)


@dataclass(frozen=True, slots=True)
class Seen:
    """A result from the side of one entry; ``expected`` is in points."""

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
    """One entry's line: totals, and against each other entry (games, points, expected points).

    Expected points are ``None`` if those of one result among them are unknown.
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
    """Return every entry's line: entries of both sides, then of the first, then of the second; each group best first.

    Entries are ranked within their group of ``sides`` only, because the side that begins has an advantage. The numbers
    of games differ, so points per game decide, then wins per game. Equal entries share the place, in order of their
    numbers.
    """
    of_side = dict.fromkeys(numbers) | dict(sides or {})
    rows = {number: Row(number) for number in numbers}
    for result in results:
        for number in (result.first, result.second):
            row, seen = rows[number], result.seen_by(number)
            row.games += seen.games
            row.wins += seen.wins
            row.draws += seen.draws
            row.losses += seen.losses
            row.expected = _sum(row.expected, seen.expected)
            games, points, expected = row.against.get(seen.opponent, (0, 0.0, 0.0))
            row.against[seen.opponent] = (
                games + seen.games,
                points + seen.points,
                _sum(expected, seen.expected),
            )
    best_first = sorted(rows.values(), key=lambda row: (*_worth(row), -row.number), reverse=True)
    found: list[Row] = []
    for side in (None, *Side):
        ranked = [row for row in best_first if of_side[row.number] == side]
        for index, row in enumerate(ranked):
            tied = index > 0 and _worth(row) == _worth(ranked[index - 1])
            row.place = ranked[index - 1].place if tied else index + 1
        found += ranked
    return found


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _worth(row: Row) -> tuple[bool, float, float]:
    return row.games > 0, row.score, row.wins / row.games if row.games else 0.0
