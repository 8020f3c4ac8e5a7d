"""A third kind of machine, written as a contributor would write it: it plays the move that last won on the board.

Without such a move, it plays a random move. Its value is 1 for the move that last won on a board, and 0 for moves that
won before or have lost since. It plays both sides of any game whose positions can be listed. No other module knows the
kind.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from beadbox import field_text
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.exchange.values import ValueData, ValuesData
from beadbox.learners.memory import TouchedValue
from beadbox.learners.preset import Preset
from beadbox.learners.q_learning.learner import Values
from beadbox.learners.rule import RuleError
from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import Game
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.rules.play import game_played
from beadbox.strength.sampled import sample
from games.live.players import Choice
from learning.kinds.keyed_values.files import KeyedFiles
from learning.kinds.keyed_values.live import KeyedLive
from learning.kinds.keyed_values.memory import KeyedMemory, values_fetch, values_fetch_at
from learning.kinds.keyed_values.page import KeyedPage
from learning.kinds.keyed_values.training import KeyedTraining
from learning.kinds.kind import Kind
from learning.kinds.page import KindText, RuleGroup, Words
from learning.kinds.training import Sampling
from learning.models import Decision


@dataclass(frozen=True, slots=True)
class LastWonRule:
    kind: ClassVar[str] = "last-won"
    keeps: ClassVar[str] = "the move that last won, for every board"
    has_boxes: ClassVar[bool] = False

    forgives: bool = False
    """Whether a move keeps its value 1 after a loss."""

    @classmethod
    def fits(cls, game):
        return game.listable and game.supports_boxes

    def require_suited(self, game):
        pass

    def to_json(self):
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def from_json(cls, data):
        if unknown_fields := data.keys() - {"kind", "forgives"}:
            raise RuleError(min(unknown_fields), field_text.unknown_field(["kind", "forgives"]))
        return cls(forgives=bool(data.get("forgives", False)))


@dataclass
class LastWon:
    """A machine with its memory, for training and matches."""

    game: Game[Any, Any]
    rule: LastWonRule
    values: Values
    steps: list[TouchedValue] = field(default_factory=list)
    epsilon: float = 0.0

    @property
    def n_new(self):
        return self.values.n_new

    @property
    def n_left_out(self):
        return self.values.n_left_out

    def keys(self, position):
        board = self.game.encode(position)
        return [f"{self.game.format_move(move)}#{board}" for move in self.game.legal_moves(position)]

    def choose(self, position, rng):
        """Return the index of the chosen move among the legal moves."""
        keys = self.keys(position)
        self.values.need(keys)
        winning_indexes = [index for index, key in enumerate(keys) if self.values[key] == 1]
        return winning_indexes[0] if winning_indexes else rng.below(len(keys))

    def mover(self, game, decisions=None):
        def move(position, rng):
            index = self.choose(position, rng)
            if decisions is not None:
                decisions.append((None, position, index))
            return game.legal_moves(position)[index]

        return move

    def teach(self, decisions, result):
        for ply, position, index in decisions:
            keys = self.keys(position)
            self.values.need(keys)
            if result is Result.WIN:
                for other, key in enumerate(keys):
                    if (self.values[key] == 1) != (other == index):
                        self._set(key, float(other == index), ply)
            elif result is Result.LOSS and not self.rule.forgives and self.values[keys[index]] == 1:
                self._set(keys[index], 0.0, ply)

    def _set(self, key, after, ply):
        if self.values.admits(key):
            self.steps.append(TouchedValue(key, self.values[key], after, 1, ply))
            self.values[key] = after

    def touched(self):
        return self.steps

    def train(self, opponent, n_games, rng):
        return self._play_games(opponent, n_games, rng, learns=False)

    def train_against(self, opponent, n_games, rng, *, opponent_learns):
        return self._play_games(opponent, n_games, rng, learns=opponent_learns)

    def _play_games(self, opponent, n_games, rng, *, learns):
        tally = Tally()
        for _ in range(n_games):
            side, own_decisions, other_decisions = Side(rng.below(2)), [], []
            other = opponent.mover(self.game, other_decisions) if learns else opponent.mover(self.game)
            results = game_played(self.game, {side: self.mover(self.game, own_decisions), side.other: other}, rng)
            self.teach(own_decisions, results[side])
            if learns:
                opponent.teach(other_decisions, results[side.other])
            tally.add(results[side])
        return tally

    def sample(self, opponent, n_games, rng):
        sides = iter(range(n_games))

        def play_sample_game():
            side = Side(next(sides) % 2)
            movers = {side: self.mover(self.game), side.other: opponent.mover(self.game)}
            return game_played(self.game, movers, rng)[side]

        return sample(play_sample_game, n_games)


@dataclass
class LastWonAdviser:
    """A machine that answers questions about its moves, without a match."""

    machine: LastWon

    def policy(self, position):
        moves, index = self.machine.game.legal_moves(position), self.machine.choose(position, NoChance())
        if index is not None:
            return {move: float(number == index) for number, move in enumerate(moves)}
        return dict.fromkeys(moves, 1 / len(moves))

    def choose(self, position, rng):
        return self.machine.game.legal_moves(position)[self.machine.choose(position, rng)], None


class NoChance:
    """A random source that returns ``None``, by which the caller sees that a choice is random."""

    def below(self, n):
        return None


class LastWonMemory(KeyedMemory):
    def load(self, machine, most=None):
        n_free = None if most is None else max(most - machine.n_values, 0)
        return LastWon(machine.game_rules, machine.rule, Values(values_fetch(machine), n_free))


MEMORY = LastWonMemory()


class LastWonLive(KeyedLive):
    memory = MEMORY

    def choose(self, live, position):
        memory = MEMORY.load(self.machine)
        index = memory.choose(position, RandomSource(live.match.seed, live.match.n_plies))
        return Choice(live.game.legal_moves(position)[index], record=(memory, position, index))

    def follow(self, live, position, move):
        return MEMORY.load(self.machine), position, list(live.game.legal_moves(position)).index(move)

    def remember(self, records):
        for ply, (memory, position, index) in records:
            keys = memory.keys(position)
            Decision.objects.create(
                machine=self.machine,
                seat=self.row,
                ply=ply,
                key=keys[index],
                chosen=index,
                values=[memory.values[key] for key in keys],
                explored=False,
                epsilon=0.0,
            )

    def teach(self, memory, ended):
        tally = Tally()
        for player in ended.players:
            result = Result.of(ended.outcome, Side(player.row.side))
            decisions = Decision.objects.filter(seat=player.row).order_by("ply")
            boards = {one.ply: one.key.partition("#")[2] for one in decisions}
            memory.teach([(one.ply, memory.game.decode(boards[one.ply]), one.chosen) for one in decisions], result)
            tally.add(result)
        return tally

    @staticmethod
    def frozen_policy(machine, position):
        return LastWonAdviser(MEMORY.load(machine))


class LastWonTraining(KeyedTraining):
    sampling = Sampling(n_games=10)

    def measure_strength(self, memory, rng):
        n_games = self.sampling.n_games
        return {slug: asdict(memory.sample(OPPONENTS[slug], n_games, rng)) for slug in self.sampling.against}

    def entrant(self, entry, game):
        values = Values(values_fetch_at(entry.machine_id, entry.n_lessons))
        return ContestPlayer(None, LastWon(game, LastWonRule.from_json(entry.rule), values))


class LastWonFiles(KeyedFiles):
    @staticmethod
    def read(file, game, rule, head, any_size):
        from beadbox.learners.exchange import schemas

        fields = schemas.read(schemas.ValueFile, file)
        for index, one in enumerate(fields.values):
            if one.value not in (0, 1):
                raise ExchangeError(f"values[{index}].value", "expected", expected="0 or 1", value=one.value)
        values = tuple(ValueData(one.key, one.value, one.visits) for one in fields.values)
        totals = fields.totals.counted()
        return ValuesData(game=game, rule=rule, epsilon=0.0, values=values, **head, **totals)


class LastWonPage(KeyedPage):
    presets: ClassVar = {
        "last-won": Preset("last-won", "What last won", "The move that last won.", "a test", LastWonRule()),
    }
    text = KindText(
        noun="values",
        words={"forgives": Words("Forgive a loss", "A move that has lost is played again all the same.")},
        groups=(RuleGroup("What a game changes", ("forgives",)),),
        admin_list=("value", "machine"),
    )

    def usual_name(self, game, side, preset):
        return f"{game.name}, last won"

    def rule_sentences(self, rule):
        return [("Plays", "the move that last won, or anything")]


LAST_WON = Kind(LastWonRule, MEMORY, LastWonLive, LastWonTraining(), LastWonFiles(), LastWonPage())
