"""Machines: training, looking inside, saving and loading."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from beadbox.errors import BeadboxError, FileError, UnsupportedError
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.exchange.document import Document, ImportOptions
from beadbox.learners.formats import machine_read
from beadbox.learners.preset import Preset
from beadbox.learners.presets import ALL_PRESETS, presets_of
from beadbox.learners.registry import RULES, rule_read, state_class
from beadbox.learners.rule import Rule, RuleError, UnsuitedRuleError
from beadbox.learners.state import LearnerState
from beadbox.public.counts import count_checked
from beadbox.public.episodes import Episode
from beadbox.public.games import Game, game_of, position_decode, side_of
from beadbox.public.names import Names
from beadbox.public.players import Learner, Player, TrainedState, common_game, first_player_side, opponent_of, state_of
from beadbox.public.strength import evaluate
from beadbox.public.training_result import TrainingResult, add_present_tally, recording_marks
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import AnyPosition
from beadbox.rules.outcome import Side, Tally
from beadbox.seeds import seed_checked
from beadbox.strength.exact import Strength

FIRST_CHUNK = 100
"""Games of the first chunk of a training; later chunks grow until one takes about :data:`CHUNK_TIME_S`."""
CHUNK_TIME_S = 0.25
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished games and the number of all games."""

presets: Mapping[str, Preset[Rule]] = Names("preset", ALL_PRESETS)
"""The presets by slug: rules with a name and a source."""


@dataclass(frozen=True, slots=True)
class Box:
    """A matchbox: the position on its front, and the beads and past draws of each move."""

    position: str
    beads: dict[str, int]
    draws: dict[str, int]


@dataclass(frozen=True)
class _Label:
    """The texts of a machine's file, and whether the machine learns on the site."""

    name: str = ""
    description: str = ""
    preset: str = ""
    learns: bool = True


class Machine(Learner):
    """A machine that learns to play one game. Make one with ``menace``, ``her``, ``machine`` or ``load``.

    >>> import beadbox as bb
    >>> m = bb.menace(seed=1).train(1_000, against="perfect")
    >>> sum(m.box(".........").beads.values()) > 0
    True
    """

    def __init__(self, game: Game, rule: Rule, current: TrainedState, label: _Label) -> None:
        super().__init__(game, current)
        self._rule = rule
        self._label = label
        self._history: TrainingResult | None = None

    @property
    def rule(self) -> Rule:
        """The rule by which the machine learns, such as the numbers of beads that it gains and loses."""
        return self._rule

    @property
    def tally(self) -> Tally:
        """The results of all games that the machine has learnt from; a game against itself counts for both sides."""
        return self._data.tally + Tally()

    @property
    def history(self) -> TrainingResult | None:
        """The result of the last training; ``None`` before the first."""
        return self._history

    def train(
        self,
        games: int,
        against: Player = "random",
        *,
        seed: int | None = None,
        both_learn: bool = False,
        on_progress: Progress | None = None,
    ) -> Machine:
        """Play ``games`` games and learn from each; return the machine itself.

        Two trainings of 500 games give the same beads as one of 1,000. An interruption loses no finished game. If a
        policy is refused, the machine does not change.

        Args:
            games: the number of games.
            against: an opponent's name, a policy, or a machine of the same kind; for self-play, the machine itself.
            seed: the seed of the random numbers; without a seed the machine's random state goes on.
            both_learn: whether an opponent that is a machine learns too.
            on_progress: called with the numbers of finished games and of all games: after 1, 2, 5, 10, 20, 50, … games,
                about four times a second, and at the end. The machine has then learnt from the finished games.

        Raises:
            UnknownNameError: there is no such opponent.
            UnsupportedError: the two cannot play each other, ``both_learn`` is given for an opponent that is not a
                machine, or the number of games is negative or not whole.
            PolicyError, IllegalMoveError: the policy did not return a distribution over the legal moves.

        >>> import beadbox as bb
        >>> bb.her(seed=3).train(50, against="random").history.games
        50
        """
        games = count_checked(games, "games", least=0)
        common_game((self, against), None)
        if against is not self:
            first_player_side(self, against, self._game, None)  # raises if the two cannot meet
        play, before = self._training_function(against, both_learn), (self._data, self._history)
        if seed is not None:
            seed = seed_checked(seed)
            self._data = replace(self._data, rng=RandomSource(seed))
        try:
            opponent_name = against if isinstance(against, str) else type(against).__name__
            self._play(play, games, TrainingResult(opponent_name, seed), on_progress)
        except BeadboxError:
            self._data, self._history = before
            raise
        return self

    def _play(self, play: Callable[[int], Tally], games: int, empty: TrainingResult, progress: Progress | None) -> None:
        """Play all games in chunks, and record their results; ``empty`` has no results yet."""
        self._history = empty
        tallies, marks = list[tuple[int, int, int]](), recording_marks(games)
        done, chunk, tally, mark = 0, FIRST_CHUNK, Tally(), next(marks)
        while done < games:
            n_games = min(chunk, mark - done)
            began_at = time.perf_counter()
            chunk_tally = play(n_games)
            took_s = time.perf_counter() - began_at
            done, tally = done + n_games, tally + chunk_tally
            if n_games == chunk:
                chunk = max(1, int(chunk * min(4.0, CHUNK_TIME_S / max(took_s, 1e-9))))
            if done == mark:
                tallies.append((tally.wins, tally.draws, tally.losses))
                mark = next(marks, games)
            self._history = replace(empty, tallies=add_present_tally(tallies, tally))
            if progress is not None:
                progress(done, games)

    def learn(self, episode: Episode) -> Machine:
        """Learn from a game as if the machine had made the moves of its side, or of both sides if it plays either.

        Raises:
            UnsupportedError: the episode is of another game.
        """
        if not isinstance(episode, Episode):
            raise UnsupportedError(f"{episode!r} is no episode. Give one that play() returned, or an Episode.")
        if episode.game != self._game.slug:
            raise UnsupportedError(f"A machine that plays {self._game.name} cannot learn from {episode.game!r}.")
        played, after = episode.played(), self._data.copy()
        for side in Side if self.side is None else (self.side,):
            after.state.learn(played, side)
            after.tally.add(played.result(side))
        self._data = after
        return self

    def strength(self, against: Player = "random", *, side: Side | str | int | None = None) -> Strength:
        """Return the exact results against another player, as :func:`evaluate` does.

        Raises:
            UnknownNameError, UnsupportedError, IllegalMoveError, PolicyError.
        """
        return evaluate(self, against, side=side)

    def policy(self, position: str) -> dict[str, float]:
        """Return the probability of each legal move. The sum is 1, or 0 if the machine resigns.

        Raises:
            InvalidPositionError: the machine is not to move in this position.

        >>> import beadbox as bb
        >>> bb.menace().policy(".........")["5"] > 0.3
        True
        """
        board = self._board(position)
        return {self._game.rules.format_move(move): chance for move, chance in self._data.state.policy(board).items()}

    probabilities = policy

    def box(self, position: str) -> Box:
        """Return the box that the machine opens in a position. The moves are those of the board on the box's front.

        Raises:
            InvalidPositionError: the machine has no box for this position.
            UnsupportedError: this kind of machine has no boxes.

        >>> import beadbox as bb
        >>> bb.menace().box(".........").beads
        {'1': 4, '2': 4, '5': 4}
        """
        found, rules = self._data.state.box(self._board(position)), self._game.rules
        moves = [rules.format_move(move) for move in found.moves]
        beads, draws = (dict(zip(moves, numbers, strict=True)) for numbers in (found.beads, found.draws))
        return Box(found.position, beads, draws)

    def boxes(self) -> Iterator[Box]:
        """Yield every box, in the order of play. In a game with too many positions, yield the boxes opened so far.

        Raises:
            UnsupportedError: this kind of machine has no boxes.
        """
        return (self.box(position) for position in self._data.state.keys())  # noqa: SIM118  # no mapping

    def values(self, position: str) -> dict[str, float]:
        """Return the learnt value of each legal move.

        Raises:
            InvalidPositionError: the machine is not to move in this position.
            UnsupportedError: this kind of machine has no value for each move.
        """
        values = self._data.state.values(self._board(position))
        return {self._game.rules.format_move(move): value for move, value in values.items()}

    def copy(self) -> Machine:
        """Return an independent copy with the same random state."""
        copy = Machine(self._game, self._rule, self._data.copy(), self._label)
        copy._history = self._history
        return copy

    def save(self, path: str | Path) -> None:
        """Write the machine to a file that ``load`` and the site read. The file has its random state."""
        Path(path).write_text(self._data.state.file_text(self._document()), encoding="utf-8")

    def _document(self) -> Document:
        tally, label = self._data.tally, self._label
        head = {
            "game": self._game.rules,
            "rule": self._rule,
            "name": label.name or f"A machine that plays {self._game.name}",
            "description": label.description,
            "preset": label.preset,
            "learns": label.learns,
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
            "random_state": self._data.rng.text,
        }
        return self._data.state.document(head)

    def _training_function(self, against: Player, both_learn: bool) -> Callable[[int], Tally]:
        """Return a function that trains a number of games against a player, and returns our tally."""
        if isinstance(against, Machine):
            if not self._data.state.has_kind_of(state_of(against)):
                raise UnsupportedError("Machines of different kinds cannot train against each other.")
            return lambda n_games: self._train_against(against, n_games, both_learn)
        assert not isinstance(against, Learner), "every learner is a machine"
        if both_learn:
            raise UnsupportedError("Only a machine as opponent can learn too. A fixed opponent needs both_learn=False.")
        opponent = opponent_of(against, self._game)
        return lambda n_games: self._learn_from(lambda state, rng: state.train(opponent, n_games, rng))

    def _learn_from(self, play: Callable[[LearnerState, RandomSource], Tally], n_seats: int = 1) -> Tally:
        """Let a copy play and learn, and keep the copy when all games are over; games of both seats count twice."""
        after = self._data.copy()
        tally = play(after.state, after.rng)
        learnt = tally if n_seats == 1 else tally + tally.mirrored()
        self._data = replace(after, tally=after.tally + learnt)
        return tally

    def _train_against(self, opponent: Machine, n_games: int, both_learn: bool) -> Tally:
        meets_itself = opponent is self
        opponent_state = None if meets_itself else opponent._data.copy()

        def play(state: LearnerState, rng: RandomSource) -> Tally:
            other = state if opponent_state is None else opponent_state.state
            return state.train_against(other, n_games, rng, other_learns=both_learn)

        try:
            tally = self._learn_from(play, n_seats=2 if meets_itself and both_learn else 1)
        except ValueError as error:
            raise UnsupportedError(f"These two cannot train against each other: {error}.") from None
        if both_learn and opponent_state is not None:
            opponent._data = replace(opponent_state, tally=opponent_state.tally + tally.mirrored())
        return tally

    def _board(self, text: str) -> AnyPosition:
        """Return a position in which the machine is to move.

        Raises:
            InvalidPositionError: the game cannot reach the position or is over in it, or the other side is to move.
        """
        side, rules = self.side, self._game.rules
        position = position_decode(self._game, text, side)
        if rules.is_terminal(position):
            raise InvalidPositionError(f"The game is over in {text!r}.")
        if side is not None and rules.side_to_move(position) is not side:
            names = self._game.side_names
            raise InvalidPositionError(f"In {text!r} it is the turn of {names[side.other]}. It plays {names[side]}.")
        return position

    def __repr__(self) -> str:
        side = "either side" if self.side is None else self._game.side_names[self.side]
        return f"<Machine {self._game.slug}, {side}, {self._rule.kind}, {self._data.tally.games} games>"


def machine(
    game: Game | str,
    side: Side | str | int = Side.FIRST,
    rule: Rule | Mapping[str, object] | str | None = None,
    *,
    seed: int = 0,
) -> Machine:
    """Return a new machine that has learnt nothing.

    Args:
        game: the game.
        side: "first", "second", a name of ``Game.side_names``, or a ``Side``; ignored by a machine of both sides.
        rule: a preset's name, a rule, or the fields of a rule as in files; by default the game's first preset.
        seed: the seed of the machine's random state.

    Raises:
        UnknownNameError: there is no such game, side or preset.
        RuleError: a field of the rule is invalid.
        UnsupportedError: no machine with this rule can play the game.

    >>> import beadbox as bb
    >>> bb.machine("hexapawn", "second", {"win": 3, "loss": -1}, seed=7)
    <Machine hexapawn, black pawns, boxes, 0 games>
    """
    game = game_of(game)
    preset, rule = _rule(game, rule)
    if not rule.fits(game.rules):
        fitting = ", ".join(presets_of(game.rules))
        raise UnsupportedError(f"A machine with this rule cannot play {game.name}. These presets fit: {fitting}.")
    try:
        rule.require_suited(game.rules)
    except UnsuitedRuleError as error:
        raise UnsupportedError(error.problem) from None
    state = state_class(game.rules, rule).fresh(game.rules, side_of(side, game), rule)
    return Machine(game, rule, TrainedState(state, RandomSource(seed_checked(seed)), Tally()), _Label(preset=preset))


def _rule(game: Game, rule: Rule | Mapping[str, object] | str | None) -> tuple[str, Rule]:
    """Return the slug of the preset and the rule; the slug is empty if ``rule`` does not name a preset."""
    if rule is None:
        fitting = presets_of(game.rules)
        rule = next(iter(fitting))
    if isinstance(rule, str):
        return rule, presets[rule].rule
    if not isinstance(rule, (Mapping, *RULES.values())):
        raise RuleError("rule", "Please give the name of a preset, a rule, or a dictionary of its fields.")
    return "", rule_read(rule) if isinstance(rule, Mapping) else rule


def menace(seed: int = 0) -> Machine:
    """Return Donald Michie's MENACE of 1961: 304 boxes that play noughts and crosses, with crosses first.

    >>> import beadbox as bb
    >>> len(list(bb.menace().boxes()))
    304
    """
    return machine("noughts-and-crosses", Side.FIRST, "michie-1961", seed=seed)


def her(seed: int = 0) -> Machine:
    """Return Martin Gardner's HER of 1962: the hexapawn robot, which plays second and loses a bead for each defeat.

    >>> import beadbox as bb
    >>> bb.her().train(1_000, against="random").strength("perfect").win
    1.0
    """
    return machine("hexapawn", Side.SECOND, "gardner-her", seed=seed)


def load(path: str | Path) -> Machine:
    """Return the machine in a file: one that ``save`` or the site wrote, or a file of another program.

    Raises:
        FileError: the file holds no machine.
        OSError: the file cannot be read.
    """
    document = machine_read(Path(path).read_bytes(), ImportOptions(any_size=True))
    try:
        state = state_class(document.game, document.rule).read(document)
        rng = RandomSource.from_text(document.random_state) if document.random_state else RandomSource(0)
    except (KeyError, ValueError) as error:
        raise FileError(str(error)) from None
    now = TrainedState(state, rng, Tally(document.wins, document.draws, document.losses))
    label = _Label(document.name, document.description, document.preset, document.learns)
    return Machine(game_of(document.game.slug), document.rule, now, label)
