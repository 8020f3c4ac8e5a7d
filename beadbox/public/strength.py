"""Exact strength: the results of a player against another one, and against its best response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from beadbox.errors import UnsupportedError
from beadbox.kernels.random_source import RandomSource
from beadbox.policies.opponent import Opponent as FixedOpponent
from beadbox.policies.table import TablePlayer
from beadbox.public.counts import count_checked
from beadbox.public.games import Game, position_decode
from beadbox.public.players import Player, common_game, contest_player, first_player_side
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.outcome import Side
from beadbox.rules.play import game_recorded
from beadbox.seeds import seed_checked
from beadbox.strength.exact import Floats, Strength, expected, expected_of, with_best_response
from beadbox.strength.graph import Graph, graph_compile
from beadbox.tournaments.contest import edge_policy, is_reduced


@dataclass(frozen=True, eq=False)
class BestResponse:
    """The best response to a player, and the player's results against it.

    The best response knows the player's policy completely. It is a policy itself, so a machine can train against it,
    and it can be evaluated and entered in a tournament.

    Attributes:
        strength: the results of the *player*, not of the best response.
        side: the side of the best response.
    """

    strength: Strength
    side: Side
    _game: Game = field(repr=False)
    _graph: Graph = field(repr=False)
    _policy: Floats = field(repr=False)
    """The policy of both sides: the probability of each edge of the graph."""

    def probabilities(self, position: str) -> dict[str, float]:
        """Return 1 for the move of the best response, and 0 for all other legal moves.

        If the player is to move, all legal moves have equal probabilities.

        Raises:
            InvalidPositionError: the game cannot reach the position, or is over in it.
        """
        rules, graph = self._game.rules, self._graph
        board = position_decode(self._game, position)
        legal = rules.legal_moves(board)
        if not legal:
            raise InvalidPositionError(f"The game is over in {position!r}.")
        if rules.side_to_move(board) is not self.side:
            return {rules.format_move(move): 1 / len(legal) for move in legal}
        graph_position = rules.canonical(board) if graph.reduced else board
        node = graph.node_id[graph_position]
        first = int(graph.indptr[node])
        edge = first + int(np.argmax(self._policy[first : graph.indptr[node + 1]]))
        move = rules.legal_moves(graph_position)[edge - first]
        if graph.reduced:
            move = rules.transform_move(move, rules.placement(board))
        return {rules.format_move(one): float(one == move) for one in legal}


def evaluate(
    player: Player,
    against: Player,
    *,
    game: Game | str | None = None,
    side: Side | str | int | None = None,
    games: int | None = None,
    seed: int = 0,
) -> Strength:
    """Return the results of a player against another one: exact results, or those of ``games`` games.

    Args:
        player: a machine, a policy, or the name of an opponent.
        against: the other player.
        game: the game; needed only if neither player is a machine.
        side: the side of ``player``: "first", "second", a name of ``Game.side_names``, or a ``Side``. Without it, a
            player of both sides gets the mean of the two.
        games: the number of games to play, for games that have too many positions for an exact result.
        seed: the seed of these games.

    Raises:
        UnknownNameError, UnsupportedError, IllegalMoveError, PolicyError.

    >>> import beadbox as bb
    >>> bb.evaluate("random", "perfect", game="noughts-and-crosses", side="second").win
    0.0
    """
    found = common_game((player, against), game)
    own_side = first_player_side(player, against, found, side)
    if games is not None:
        return _play(found, player, against, own_side, games, seed)
    return _mean(_exact(found, player, against, list(Side) if own_side is None else [own_side]))


def best_response(
    player: Player, *, game: Game | str | None = None, side: Side | str | int | None = None
) -> BestResponse:
    """Return the best response to a player: the policy against which the player gets the fewest points.

    Args:
        player: a machine, a policy, or the name of an opponent.
        game: the game; needed only if the player is not a machine.
        side: the side of the player; needed only if the player plays either side.

    Raises:
        UnknownNameError, UnsupportedError, IllegalMoveError, PolicyError.

    >>> import beadbox as bb
    >>> bb.best_response(bb.her()).strength.win
    0.125
    """
    found = common_game((player,), game)
    own_side = first_player_side(player, "random", found, side)
    if own_side is None:
        raise UnsupportedError("This player plays either side. Say which one, such as side='first'.")
    table = _table(player, found, own_side)
    graph = graph_compile(found.rules, reduced=is_reduced(table))
    played = with_best_response(graph, own_side, edge_policy(graph, table))
    return BestResponse(expected_of(graph, own_side, played), own_side.other, found, graph, played)


def exploitability(player: Player, *, game: Game | str | None = None, side: Side | str | int | None = None) -> float:
    """Return the exploitability of a player, in points for each game, from 0 to 1.

    It is the value of the game minus the player's points against a best response, and 0 for a perfect player. Without
    ``side``, a player of both sides gets the mean of the two.

    Raises:
        UnknownNameError, UnsupportedError, IllegalMoveError, PolicyError.

    >>> import beadbox as bb
    >>> bb.exploitability("perfect", game="hexapawn")
    0.0
    """
    found = common_game((player,), game)
    own_side = first_player_side(player, "random", found, side)
    sides = list(Side) if own_side is None else [own_side]
    losses = [_value(found, one) - best_response(player, game=found, side=one).strength.score for one in sides]
    return max(0.0, sum(losses) / len(losses))


def _value(game: Game, side: Side) -> float:
    winner = game.solve().winner
    return 0.5 if winner is None else float(winner is side)


def _exact(game: Game, player: Player, against: Player, sides: Sequence[Side]) -> list[Strength]:
    """Return the exact results of a player on each of these sides."""
    own_side = sides[0] if len(sides) == 1 else None
    opponent_side = None if own_side is None else own_side.other
    tables = [_table(player, game, own_side), _table(against, game, opponent_side)]
    graph = graph_compile(game.rules, reduced=all(map(is_reduced, tables)))
    own_edges, opponent_edges = (edge_policy(graph, one) for one in tables)
    return [expected(graph, side, own_edges, opponent_edges) for side in sides]


def _table(player: Player, game: Game, side: Side | None) -> TablePlayer | FixedOpponent:
    table = contest_player(player, game, side).table
    if table is None:
        raise UnsupportedError(
            f"{game.name} has too many positions for an exact result. Play games instead, such as games=1000."
        )
    return table


def _mean(found: Sequence[Strength]) -> Strength:
    if len(found) == 1:
        return found[0]
    numbers = (
        sum(getattr(one, name) for one in found) / len(found)
        for name in ("win", "draw", "loss", "endless", "endless_points")
    )
    return Strength(*numbers)


def _play(game: Game, player: Player, against: Player, side: Side | None, n_games: int, seed: int) -> Strength:
    """Play games and return the shares of wins, draws and losses. A player of both sides plays them in turn."""
    n_games = count_checked(n_games, "games")
    rules = game.rules
    own_player, opponent = (contest_player(one, game).played for one in (player, against))
    rng, counts = RandomSource(seed_checked(seed)), [0, 0, 0]
    for number in range(n_games):
        seat = Side(number % 2) if side is None else side
        played = game_recorded(rules, {seat: own_player.mover(rules), seat.other: opponent.mover(rules)}, rng)
        counts[played.result(seat)] += 1
    return Strength(*(count / n_games for count in counts))
