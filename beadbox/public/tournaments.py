"""Round robins: every player meets every other one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from beadbox.errors import UnsupportedError
from beadbox.kernels.random_source import RandomSource
from beadbox.public.games import Game
from beadbox.public.players import Player, game_among, player_of, side_played
from beadbox.rules.outcome import Side
from beadbox.seeds import seed_checked
from beadbox.tournaments.contest import contest, contest_played
from beadbox.tournaments.standings import Result, Row, table


@dataclass(frozen=True, slots=True)
class Standings:
    """The table of a tournament, and all its meetings.

    Attributes:
        names: the names of the players, in the order of their entry.
        results: each meeting, with the numbers of its two players.
    """

    names: tuple[str, ...]
    sides: tuple[Side | None, ...]
    results: tuple[Result, ...]

    def rows(self) -> list[dict[str, object]]:
        """Return a dictionary for each player, best first: players of both sides, then the first side, then the second.

        ``expected`` are the exact points, where they are known.
        """
        return [self._row(row) for row in table(range(len(self.names)), self.results, dict(enumerate(self.sides)))]

    def _row(self, row: Row) -> dict[str, object]:
        return {
            "place": row.place,
            "name": self.names[row.number],
            "side": self.sides[row.number],
            "games": row.games,
            "wins": row.wins,
            "draws": row.draws,
            "losses": row.losses,
            "points": row.points,
            "expected": row.expected,
        }


def round_robin(
    players: Mapping[str, Player],
    *,
    games: int = 1_000,
    game: Game | str | None = None,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Standings:
    """Let every player meet every other one, on each side that it plays, and return the table. No player learns.

    Args:
        players: at least two players by name.
        games: the games of each meeting.
        game: the game; needed only if no player is a machine.
        seed: the seed of all games.
        on_progress: called with the meetings done and all meetings.

    Raises:
        UnknownNameError, UnsupportedError, IllegalMoveError, PolicyError.

    >>> import beadbox as bb
    >>> bb.round_robin({"r": "random", "p": "perfect"}, game="hexapawn", games=10, seed=1).rows()[0]["name"]
    'p'
    """
    from beadbox.tournaments.pairings import Entrant  # needs the package networkx
    from beadbox.tournaments.pairings import round_robin as meetings_of

    if len(players) < 2:
        raise UnsupportedError(f"A tournament needs at least 2 players, not {len(players)}.")
    if games < 1:
        raise UnsupportedError(f"Please play at least 1 game, not {games}.")
    found = game_among(tuple(players.values()), game)
    sides = tuple(side_played(player) for player in players.values())
    seats = [player_of(player, found) for player in players.values()]
    entrants = [
        Entrant(number) if side is None else Entrant(number, frozenset((int(side),)))
        for number, side in enumerate(sides)
    ]
    meetings = meetings_of(entrants)
    results = []
    for number, meeting in enumerate(meetings):
        first, second, rng = seats[meeting.first], seats[meeting.second], RandomSource(seed_checked(seed), number)
        if first.table is not None and second.table is not None:
            score = contest(found.rules, first.table, second.table, games, rng)
        else:
            played = contest_played(found.rules, first.played, second.played, games, rng)
            assert played is not None, "nothing stops it"
            score = played
        results.append(
            Result(
                meeting.first, meeting.second, games, score.first_wins, score.draws, score.second_wins, score.expected
            )
        )
        if on_progress is not None:
            on_progress(number + 1, len(meetings))
    return Standings(tuple(players), sides, tuple(results))
