"""What the site asks of a machine with a table of values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, cast

from beadbox.exchange.errors import shown
from beadbox.exchange.values import KeyProblem, ValuesData, values_document
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.choice import Chosen
from beadbox.learners.presets import TABLE_PRESETS
from beadbox.learners.table_learner.frozen import FrozenTable
from beadbox.learners.table_learner.memory import TableMemory, entries_compile, table_policy
from beadbox.learners.table_learner.rule import TableRule
from beadbox.rules.game import Game
from beadbox.rules.outcome import Side, Tally
from beadbox.tournaments.contest import ContestPlayer
from games.live.players import Choice, LiveMatch, LiveSeat
from games.live.states import Insight
from learning.kinds.base import FIRST_CHUNK_GAMES, Ended, Page, percent
from learning.kinds.keyed_values import Entries
from learning.kinds.table_learner import live
from learning.kinds.table_learner.text import GROUPS, WORDS, sentences
from learning.models import Machine, TournamentEntry, Value
from learning.selectors.strength import Strength, exact_opponents, policy_strength, strength_kept
from learning.selectors.values import position_values, values_insight
from learning.storage import values as storage


class TableKind(Entries):
    """Machines with a value for every board or move that they can come to, and play either side."""

    rule = TableRule
    presets = TABLE_PRESETS
    words = WORDS
    groups = GROUPS
    why = "values"
    tells = "values"
    against: ClassVar[tuple[str, ...]] = (*exact_opponents(), "worst")
    grows = False
    """Its game has only so many boards."""

    def fields_new(self, rule: TableRule) -> dict[str, Any]:
        return {"epsilon": rule.exploring}

    def load(self, machine: Machine, most: int | None = None) -> TableMemory:
        rule, epsilon = cast("TableRule", machine.rule), machine.epsilon or 0.0
        return TableMemory.load(machine.game_rules, rule, epsilon, storage.values_rows(machine))

    def n_first_games(self, machine: Machine) -> int:
        return FIRST_CHUNK_GAMES

    def has_table(self, machine: Machine) -> bool:
        return True

    def measured(self, memory: TableMemory, rng: RandomSource) -> Strength:
        return _of_either_side(_by_seat(memory))

    def strength(self, machine: Machine) -> Strength:
        return _of_either_side(self._by_seat(machine))

    def _by_seat(self, machine: Machine) -> Strength:
        return strength_kept(machine, lambda: _by_seat(self.load(machine)))

    @staticmethod
    def read(
        file: dict[str, Any], game: Game[Any, Any], rule: TableRule, head: dict[str, Any], any_size: bool
    ) -> ValuesData:
        exploring = rule.exploring_floor, rule.exploring
        return values_document(file, game, rule, head, _key_problem(game, rule), exploring, any_size=any_size)

    def choose(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, rng: RandomSource) -> Choice:
        return live.choose(machine, position, rng)

    def follow(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, move: Any) -> Chosen:
        return live.follow(machine, position, move)

    def teach(self, memory: TableMemory, ended: Ended) -> Tally:
        return live.teach(memory, ended)

    def mind(self, machine: Machine, position: Any) -> live.Thinker:
        learner = live.learner_at(machine, position)
        learner.learns = False
        return live.Thinker(learner)

    def insight(self, match: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        return values_insight(match, seats, live.SIGHT)

    def rule_sentences(self, rule: TableRule) -> list[tuple[str, str]]:
        return sentences(rule)

    def page(self, machine: Machine, asked: Mapping[str, str]) -> Page:
        plain, by_seat = super().page(machine, asked), self._by_seat(machine)
        layout = machine.game_rules.look.layout
        seats = [
            {
                "role": layout.roles[side],
                "name": layout.role_names[side],
                "strength": {slug: by_seat[_seat(slug, side)] for slug in self.against},
            }
            for side in Side
        ]
        tries = (machine.epsilon or 0.0) if machine.learns else 0.0
        own = {"seats": seats, "n_values": machine.n_values, "tries": percent(tries)}
        return Page("learning/machine_table.html", plain.context | own)

    def position_view(self, machine: Machine, text: str) -> dict[str, Any]:
        view = position_values(machine, text, partial(live.sees, machine), live.SIGHT)
        return view if machine.learns else view | {"epsilon": 0.0}

    def entry_board(self, entry: Value) -> str:
        return entry.key.rpartition("#")[2]

    def entrant(self, entry: TournamentEntry, game: Game[Any, Any]) -> ContestPlayer:
        self.entrant_require(entry)
        assert entry.machine_id is not None
        assert entry.n_lessons is not None
        rule = TableRule.from_json(entry.rule or {})
        keys = entries_compile(game, rule).keys
        then = storage.values_fetch_at(entry.machine_id, entry.n_lessons)(keys)
        memory = TableMemory.load(game, rule, 0.0, ((key, value, 0) for key, value in then.items()))
        return ContestPlayer(memory, FrozenTable(memory))


def _seat(slug: str, side: Side) -> str:
    """What the strength against an opponent on one side is kept as."""
    return f"{slug}:{int(side)}"


def _by_seat(memory: TableMemory) -> Strength:
    """Win, draw and loss of a memory against each opponent of the page on either side, and in the worst case."""
    graph, policy = memory.table.graph, table_policy(memory)
    return {_seat(slug, side): result for side in Side for slug, result in policy_strength(graph, side, policy).items()}


def _of_either_side(by_seat: Strength) -> Strength:
    """The same of a machine for which a coin decides about the side."""
    return {
        slug: {
            name: sum(by_seat[_seat(slug, side)][name] for side in Side) / len(Side) for name in ("win", "draw", "loss")
        }
        for slug in TableKind.against
    }


def _key_problem(game: Game[Any, Any], rule: TableRule) -> KeyProblem:
    """What is wrong with a key in a file: it is none of those that such a machine can come to have."""
    entries = entries_compile(game, rule).entry_of
    what = "board after a move" if rule.of_boards else "move on a board"
    return lambda key: "" if key in entries else f"The text {shown(key)} is not the key of a {what} of {game.name}."
