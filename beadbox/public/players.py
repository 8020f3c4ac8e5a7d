"""The players that functions of the library accept: machines, names of fixed opponents, and policies of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from beadbox.errors import UnsupportedError
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.state import LearnerState
from beadbox.policies.given import Policy, PolicyOpponent, PolicyTable
from beadbox.policies.opponent import Opponent as FixedOpponent
from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import ContestPlayer
from beadbox.public.games import Game, game_of, side_of
from beadbox.public.names import Names
from beadbox.rules.outcome import Side, Tally


@dataclass(frozen=True, slots=True)
class TrainedState:
    """Everything that changes when a machine learns: beads or values, random state, and tally.

    A machine replaces this object as a whole, so that an interruption never leaves half a game.
    """

    state: LearnerState
    rng: RandomSource
    tally: Tally

    def copy(self) -> TrainedState:
        """Return an independent copy."""
        return TrainedState(self.state.copy(), RandomSource.from_text(self.rng.text), self.tally + Tally())


class Learner:
    """A player that learns to play one game: the base of ``Machine``."""

    def __init__(self, game: Game, current: TrainedState) -> None:
        self._game = game
        self._data = current

    @property
    def game(self) -> Game:
        """The game that the machine plays."""
        return self._game

    @property
    def side(self) -> Side | None:
        """The side that the machine always plays; ``None`` if it plays either."""
        return self._data.state.side


Player: TypeAlias = Learner | Policy | str
"""A machine, a policy, or the name of a fixed opponent."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """A fixed opponent, which never learns. ``beadbox.opponents`` has all of them."""

    slug: str
    name: str
    summary: str

    def plays(self, game: Game | str) -> bool:
        """Whether the opponent plays this game."""
        return OPPONENTS[self.slug].plays(game_of(game).rules)


opponents: Mapping[str, Opponent] = Names(
    "opponent", {slug: Opponent(slug, one.name, one.summary) for slug, one in OPPONENTS.items()}
)
"""The fixed opponents by name. Engines are named by their level."""


def state_of(machine: Learner) -> LearnerState:
    """Return the state that a machine has learnt; the caller must not change the state."""
    return machine._data.state  # noqa: SLF001  # the library needs the attribute, but programs do not


def opponent_of(player: Policy | str, game: Game) -> FixedOpponent:
    """Return the fixed opponent for a player that is not a machine.

    Raises:
        UnknownNameError: there is no such opponent.
        UnsupportedError: the opponent does not play this game, or the object is no policy.
    """
    if isinstance(player, str):
        opponent = OPPONENTS[opponents[player].slug]
        if not opponent.plays(game.rules):
            playing = ", ".join(slug for slug, one in opponents.items() if one.plays(game))
            raise UnsupportedError(f"{player!r} does not play {game.name}. These do: {playing}.")
        return opponent
    _require_player(player)
    return PolicyOpponent(player)


def _require_player(player: object) -> None:
    if isinstance(player, str):
        opponents[player]  # raises the error for an unknown name
    elif isinstance(player, type) or not isinstance(player, Learner | Policy):
        raise UnsupportedError(
            f"{player!r} is no player. Give a machine, the name of an opponent, or an object with a method "
            "probabilities(position)."
        )


def common_game(players: tuple[Player, ...], game: Game | str | None) -> Game:
    """Return the game that these players play: ``game``, or the game of the first machine if ``game`` is ``None``.

    Raises:
        UnknownNameError: there is no such opponent.
        UnsupportedError: an object is no player, the game is unknown, or a machine plays another game.
    """
    for player in players:
        _require_player(player)
    machines = [player for player in players if isinstance(player, Learner)]
    if game is None and not machines:
        raise UnsupportedError("None of these players has a game. Say which one, such as game='hexapawn'.")
    found = machines[0].game if game is None else game_of(game)
    for machine in machines:
        if machine.game != found:
            raise UnsupportedError(f"A machine that plays {machine.game.name} cannot play {found.name}.")
    return found


def contest_player(player: Player, game: Game, side: Side | None = None) -> ContestPlayer:
    """Return a player in the form for contests. It has a table only if the game's positions can be listed.

    ``side``: the side that the player plays in the contest; ``None`` if it plays both.

    Raises:
        UnknownNameError: there is no such opponent.
        UnsupportedError: the opponent does not play this game, or the object is no policy.
    """
    if isinstance(player, Learner):
        return state_of(player).player()
    opponent = opponent_of(player, game)
    if not game.is_listable:
        return ContestPlayer(None, opponent)
    table = PolicyTable(opponent.policy, side) if isinstance(opponent, PolicyOpponent) else opponent
    return ContestPlayer(table, opponent)


def fixed_side(player: Player) -> Side | None:
    """Return the side that a player always plays; ``None`` if it plays either."""
    return player.side if isinstance(player, Learner) else None


def first_player_side(first: Player, second: Player, game: Game, side: Side | str | int | None) -> Side | None:
    """Return the side of the first of two players, or ``None`` if that player may play either side.

    Raises:
        UnknownNameError: the game has no such side.
        UnsupportedError: a machine always plays the other side.
    """
    first_side, second_side = fixed_side(first), fixed_side(second)
    found = first_side if side is None else side_of(side, game)
    if found is None and second_side is not None:
        found = second_side.other
    if found is not None and (first_side not in (None, found) or second_side not in (None, found.other)):
        names = game.side_names
        wrong = names[found] if first_side not in (None, found) else names[found.other]
        raise UnsupportedError(f"A machine always plays one side, and this one cannot play {wrong}.")
    return found
