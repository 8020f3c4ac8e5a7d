"""What the site asks of a machine that keeps values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from beadbox.engines.registry import engine_of
from beadbox.exchange import native
from beadbox.exchange.values import MAX_VALUES, ValuesData
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.choice import Chosen
from beadbox.learners.presets import Q_PRESETS
from beadbox.learners.q_learning.frozen import FrozenValues
from beadbox.learners.q_learning.learner import QLearner
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.game import Game
from beadbox.rules.outcome import Side, Tally
from beadbox.tournaments.contest import ContestPlayer
from games.live.players import Choice, LiveMatch, LiveSeat
from games.live.states import Insight
from learning.kinds.base import Ended, Page, percent
from learning.kinds.keyed_values import Entries
from learning.kinds.q_learning import live
from learning.kinds.q_learning.text import GROUPS, WORDS, sentences
from learning.models import Machine, TournamentEntry, Value
from learning.selectors.strength import Strength
from learning.selectors.values import position_values, values_full, values_insight
from learning.storage import values as storage

GAMES_PER_POINT = 100
"""A point of the curve takes as long as so many games, so a short run has fewer; 3 at least."""


class ValueKind(Entries):
    """Machines that keep a value for every move they have tried, and play either side."""

    rule = QRule
    presets = Q_PRESETS
    words = WORDS
    groups = GROUPS
    why = "values"
    tells = "values"
    player = "machine-q"
    against = ("random", "medium")
    """Random play is what the engine's level ``easy`` plays, too."""
    levels = ("random", "medium")
    n_sample = 50
    """Its games are long: a second for each opponent, or less."""
    off_by = "a seventh"

    def usual_name(self, game: Game[Any, Any], side: Side | None, preset: str) -> str:
        return f"{game.name} Q"

    def fields_new(self, rule: QRule) -> dict[str, Any]:
        return {"epsilon": rule.epsilon}

    def load(self, machine: Machine, most: int | None = None) -> QMemory:
        return storage.values_memory(machine, most)

    def n_first_games(self, machine: Machine) -> int:
        return 2

    def n_points(self, n_games: int) -> int:
        return min(super().n_points(n_games), max(3, n_games // GAMES_PER_POINT))

    def measured(self, memory: QMemory, rng: RandomSource) -> Strength:
        return {slug: asdict(memory.sample(OPPONENTS[slug], self.n_sample, rng)) for slug in self.against}

    @staticmethod
    def read(
        file: dict[str, Any], game: Game[Any, Any], rule: QRule, head: dict[str, Any], any_size: bool
    ) -> ValuesData:
        return native.values_machine(file, game, rule, head, any_size)

    def choose(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, rng: RandomSource) -> Choice:
        return live.choose(machine, position, rng)

    def follow(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, move: Any) -> Chosen:
        return storage.values_learner(machine).follow(position, move)

    def teach(self, memory: QMemory, ended: Ended) -> Tally:
        return live.teach(memory, ended)

    def mind(self, machine: Machine, position: Any) -> QLearner:
        return storage.values_learner(machine)

    def insight(self, match: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        return values_insight(match, seats, live.SIGHT)

    def rule_sentences(self, rule: QRule) -> list[tuple[str, str]]:
        return sentences(rule)

    def page(self, machine: Machine, asked: Mapping[str, str]) -> Page:
        plain = super().page(machine, asked)
        full = values_full(machine) if machine.learns else ""
        facts = plain.context["machine"] | {"n_values": machine.n_values, "full": full}
        own = {"machine": facts, "most_in_file": MAX_VALUES, "tries": percent(machine.epsilon or 0.0)}
        return Page("learning/machine_values.html", plain.context | own)

    def position_view(self, machine: Machine, text: str) -> dict[str, Any]:
        rule, view = machine.rule, position_values(machine, text, partial(live.sees, machine), live.SIGHT)
        assert isinstance(rule, QRule), "it is of this kind"
        return view | {"takes_wins": rule.take_wins, "avoids_repetition": rule.avoid_repetition}

    def entry_board(self, entry: Value) -> str:
        game = entry.machine.game_rules
        engine = engine_of(game)
        assert engine is not None, "its rule fits no other game"
        position, _ = engine.entry_read(entry.key)
        return game.encode(position)

    def entrant(self, entry: TournamentEntry, game: Game[Any, Any]) -> ContestPlayer:
        self.entrant_require(entry)
        assert entry.machine_id is not None
        assert entry.epsilon is not None
        assert entry.n_lessons is not None
        values = storage.values_fetch_at(entry.machine_id, entry.n_lessons)
        return ContestPlayer(None, FrozenValues(QRule.from_json(entry.rule or {}), entry.epsilon, values))
