"""Tournaments: round robins, and Swiss tournaments, in which players with similar scores meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from beadbox.errors import UnsupportedError
from beadbox.kernels.random_source import RandomSource
from beadbox.public.counts import count_checked
from beadbox.public.games import Game
from beadbox.public.players import Player, common_game, contest_player, fixed_side
from beadbox.rules.outcome import Side
from beadbox.seeds import seed_checked
from beadbox.tournaments.contest import contest, contest_by_moves
from beadbox.tournaments.pairings import Entrant, Meeting, swiss_meetings, swiss_rounds_usual
from beadbox.tournaments.pairings import round_robin as meetings_of
from beadbox.tournaments.standings import Result, Row, table


@dataclass(frozen=True, slots=True)
class Standings:
    """The table of a tournament, and all its meetings.

    Attributes:
        names: the names of the players, in the order of their entry.
        sides: the side that each player always plays; ``None`` for a player of both sides.
        results: each meeting. ``first`` and ``second`` are the numbers of its players in ``names``; ``n_games``,
            ``first_wins``, ``draws`` and ``second_wins`` count its games; ``expected`` has three exact chances: of a
            win of the first player, of a draw, and of a win of the second player.
    """

    names: tuple[str, ...]
    sides: tuple[Side | None, ...]
    results: tuple[Result, ...]

    def rows(self) -> list[dict[str, object]]:
        """Return a dictionary for each player.

        Players of both sides come first, then players of the first side, then players of the second side. Each group is
        sorted from the best player to the worst, and has places of its own, because players of one side never meet. The
        keys are ``place``, ``name``, ``side``, ``games``, ``wins``, ``draws``, ``losses``, ``points`` and
        ``expected``. ``expected`` has the exact points, or ``None`` if they are not known.
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
        on_progress: called with the number of finished meetings and the number of all meetings.

    Raises:
        UnknownNameError, UnsupportedError, IllegalMoveError, PolicyError.

    >>> import beadbox as bb
    >>> bb.round_robin({"r": "random", "p": "perfect"}, game="hexapawn", games=10, seed=1).rows()[0]["name"]
    'p'
    """
    tournament = _Tournament(players, games, game, seed)
    meetings = meetings_of(tournament.entrants)
    for number, meeting in enumerate(meetings):
        tournament.play(meeting)
        if on_progress is not None:
            on_progress(number + 1, len(meetings))
    return tournament.standings()


def swiss(
    players: Mapping[str, Player],
    *,
    rounds: int | None = None,
    games: int = 1_000,
    game: Game | str | None = None,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Standings:
    """Let players with similar scores meet, round by round, and return the table. No player learns.

    No two players meet twice, so the tournament ends early when all possible pairs have met. The function needs
    ``beadbox[tournament]``.

    Args:
        players: at least two players by name.
        rounds: the number of rounds; by default the smallest number after which at most one player has no defeat.
        games: the games of each meeting.
        game: the game; needed only if no player is a machine.
        seed: the seed of all games and lots.
        on_progress: called with the number of finished rounds and the number of all rounds.

    Raises:
        UnknownNameError, UnsupportedError, IllegalMoveError, PolicyError.

    >>> import beadbox as bb
    >>> players = {"r": "random", "p": "perfect", "w": "win-block"}
    >>> len(bb.swiss(players, rounds=1, game="hexapawn", games=10, seed=1).results)
    2
    """
    n_rounds = swiss_rounds_usual(len(players)) if rounds is None else rounds
    if find_spec("networkx") is None:
        raise UnsupportedError("A Swiss tournament needs the package networkx: pip install 'beadbox[tournament]'.")
    n_rounds = count_checked(n_rounds, "rounds")
    tournament = _Tournament(players, games, game, seed)
    for number in range(1, n_rounds + 1):
        for meeting in swiss_meetings(tournament.entrants, tournament.results, tournament.seed, number):
            tournament.play(meeting)
        if on_progress is not None:
            on_progress(number, n_rounds)
    return tournament.standings()


class _Tournament:
    """The players of a tournament, and the results so far."""

    def __init__(self, players: Mapping[str, Player], games: int, game: Game | str | None, seed: int) -> None:
        if not isinstance(players, Mapping):
            raise UnsupportedError("Please give the players by name, such as {'mine': m, 'perfect': 'perfect'}.")
        if len(players) < 2:
            raise UnsupportedError(f"A tournament needs at least 2 players, not {len(players)}.")
        self._names, self.seed = tuple(players), seed_checked(seed)
        self._games = count_checked(games, "games")
        self._game = common_game(tuple(players.values()), game)
        self._sides = tuple(fixed_side(player) for player in players.values())
        if None not in self._sides and len(set(self._sides)) == 1:
            raise UnsupportedError("No two of these players can meet: all of them always play the same side.")
        self._seats = [{side: contest_player(player, self._game, side) for side in Side} for player in players.values()]
        self.results: list[Result] = []
        self.entrants = [
            Entrant(number) if side is None else Entrant(number, frozenset((int(side),)))
            for number, side in enumerate(self._sides)
        ]

    def play(self, meeting: Meeting) -> None:
        first, second = self._seats[meeting.first][Side.FIRST], self._seats[meeting.second][Side.SECOND]
        rng, games, rules = RandomSource(self.seed, len(self.results)), self._games, self._game.rules
        if first.table is not None and second.table is not None:
            score = contest(rules, first.table, second.table, games, rng)
        else:
            unstopped = contest_by_moves(rules, first.played, second.played, games, rng)
            assert unstopped is not None, "a contest without a stop condition ends"
            score = unstopped
        counts = score.first_wins, score.draws, score.second_wins
        self.results.append(Result(meeting.first, meeting.second, games, *counts, score.expected))

    def standings(self) -> Standings:
        return Standings(self._names, self._sides, tuple(self.results))
