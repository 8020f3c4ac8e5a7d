"""Single games: their records, and a function that plays one."""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.errors import UnsupportedError
from beadbox.kernels.random_source import RandomSource
from beadbox.public.games import Game, games, move_parse
from beadbox.public.players import Player, common_game, contest_player, first_player_side
from beadbox.rules.outcome import RESIGNATION, Outcome, Side
from beadbox.rules.play import PlayedGame, game_recorded
from beadbox.seeds import seed_checked


@dataclass(frozen=True, slots=True)
class Episode:
    """A game that is over: its moves from the start, and its outcome.

    The outcome must be given if the moves do not end the game by its rules, such as after a resignation.

    >>> import beadbox as bb
    >>> bb.Episode("noughts-and-crosses", ("1", "4", "2", "5", "3")).outcome.winner
    <Side.FIRST: 0>

    Raises:
        UnknownNameError: there is no such game.
        IllegalMoveError: a move is not legal in its position.
        UnsupportedError: the game is not over after these moves, and the outcome is missing.
    """

    game: str
    moves: tuple[str, ...]
    outcome: Outcome = None  # type: ignore[assignment]  # set from the moves

    def __post_init__(self) -> None:
        if not isinstance(self.outcome, Outcome | None):
            raise UnsupportedError(f"{self.outcome!r} is no outcome. Give an Outcome, such as Outcome(None, 'agreed').")
        found = games[self.game].outcome(games[self.game].play(games[self.game].start, *self.moves))
        if found is None and self.outcome is None:
            raise UnsupportedError("The game is not over after these moves. Give its outcome.")
        object.__setattr__(self, "moves", tuple(self.moves))
        object.__setattr__(self, "outcome", found or self.outcome)

    def played(self) -> PlayedGame:
        """Return the game with its positions, in the form from which learners learn."""
        game, turns = games[self.game], []
        position = game.rules.initial_position()
        for text in self.moves:
            move = move_parse(game, position, text)
            turns.append((position, move))
            position = game.rules.apply(position, move)
        winner, is_resigned = self.outcome.winner, self.outcome.termination == RESIGNATION
        return PlayedGame(tuple(turns), self.outcome, winner.other if is_resigned and winner is not None else None)


def play(first: Player, second: Player, *, game: Game | str | None = None, seed: int = 0) -> Episode:
    """Play one game and return it. No player learns from it.

    Raises:
        UnknownNameError, UnsupportedError, IllegalMoveError, PolicyError.

    >>> import beadbox as bb
    >>> bb.play("perfect", "perfect", game="noughts-and-crosses", seed=1).outcome.winner is None
    True
    """
    found = common_game((first, second), game)
    first_player_side(first, second, found, Side.FIRST)  # raises if a machine always plays the other side
    rules = found.rules
    movers = {
        side: contest_player(player, found).played.mover(rules)
        for side, player in zip(Side, (first, second), strict=True)
    }
    played = game_recorded(rules, movers, RandomSource(seed_checked(seed)))
    return Episode(found.slug, tuple(rules.format_move(move) for _, move in played.turns), played.outcome)
