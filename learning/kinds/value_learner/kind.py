"""What the site asks of a machine that learns a value of positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from beadbox.engines.registry import engine_of
from beadbox.exchange.errors import ExchangeError
from beadbox.exchange.registry import Format
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import TouchedBox
from beadbox.learners.presets import VALUE_PRESETS
from beadbox.learners.value_learner.learner import WeightsError, weights_none
from beadbox.learners.value_learner.memory import ValueMemory, ValuePlayer, value_meeting
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.game import Game
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.strength.sampled import Sampled, sample
from beadbox.strength.snapshots import CHOSEN_ON, Meeting, Opening, openings
from beadbox.tournaments.contest import ContestPlayer
from games.live.players import Choice, LiveMatch, LiveSeat, Memo, Statement
from games.live.states import Insight
from learning.exceptions import EntryGoneError, RuleRefusedError
from learning.kinds.base import Ended, Kind, LevelMove, Page
from learning.kinds.value_learner import explanation, files, levels, live, page
from learning.kinds.value_learner.text import GROUPS, WORDS, sentences
from learning.models import LessonKind, Machine, TournamentEntry
from learning.selectors.strength import Strength, strength_measured_last
from learning.storage import weights as storage
from learning.storage.folding import WEIGHTS
from learning.storage.lessons import Cause, lessons_go_back_to


class WeightsKind(Kind):
    """Machines that learn a value of positions, and play either side by a search with it."""

    rule = ValueRule
    presets = VALUE_PRESETS
    words = WORDS
    groups = GROUPS
    noun = "weights"
    tells = "parts"
    why = "values"
    position_template = "learning/weights_why.html"
    either_side = True
    against = ("random", "medium")
    n_sample = 100
    keeps_snapshots = True
    ledger = WEIGHTS
    levels = ("medium", "hard")
    """Random play is beaten after a few hundred games, and tells no more."""

    def rule_require(self, game: Game[Any, Any], rule: ValueRule) -> None:
        try:
            weights_none(game, rule)
        except WeightsError as error:
            raise RuleRefusedError(f"rule.features: {error}") from None

    def usual_name(self, game: Game[Any, Any], side: Side | None, preset: str) -> str:
        return f"{game.name} value learner"

    def fields_new(self, rule: ValueRule) -> dict[str, Any]:
        return {"epsilon": 0.0}

    def lay_out(self, machine: Machine) -> None:
        storage.weights_begin(machine, weights_none(machine.game_rules, cast("ValueRule", machine.rule)))

    def copy(self, original: Machine, copy: Machine) -> None:
        storage.weights_copy(original, copy)

    def forget(self, machine: Machine) -> None:
        storage.weights_forget(machine)

    def reset(self, machine: Machine) -> None:
        self.lay_out(machine)

    def load(self, machine: Machine, most: int | None = None) -> ValueMemory:
        return storage.weights_memory(machine)

    def store(self, machine: Machine, memory: ValueMemory, lesson_id: int) -> Sequence[TouchedBox]:
        storage.weights_store(machine, memory, lesson_id)
        return ()

    def n_first_games(self, machine: Machine) -> int:
        return 2

    def measured(self, memory: ValueMemory, rng: RandomSource) -> Strength:
        learner = memory.machine
        engine = engine_of(learner.game)
        assert engine is not None, "its rule fits no other game"
        played = openings(learner.game, (self.n_sample + 1) // 2, seed=CHOSEN_ON)
        # Random play is what the weakest level of an engine plays.
        weakest = next(iter(engine.levels.values()))
        meetings = {
            slug: value_meeting(learner.game, learner.player, engine.levels.get(slug, weakest)) for slug in self.against
        }
        return {slug: asdict(_sample(meet, played, rng, self.n_sample)) for slug, meet in meetings.items()}

    def meeting(self, game: Game[Any, Any], player: Any, level: str) -> Meeting:
        engine = engine_of(game)
        assert engine is not None, "its rule fits no other game"
        return value_meeting(game, player.machine.player, engine.levels[level])

    def knew(self, machine: Machine, n_lessons: int) -> dict[str, Any]:
        after = storage.weights_row_at(machine.pk, n_lessons)
        # A machine that was reset or brought in began with a row of no lesson, and so has none before it.
        before = None if after.lesson_id is None else storage.weights_row_at(machine.pk, n_lessons - 1)
        return {
            "lesson": n_lessons,
            "features": cast("ValueRule", machine.rule).features,
            "before": None if before is None else storage.floats(before.weights).tolist(),
            "after": storage.floats(after.weights).tolist(),
            "mean_before": None if before is None else storage.floats(before.average).tolist(),
            "mean_after": storage.floats(after.average).tolist(),
        }

    def put_back(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        storage.weights_put_back(machine, n_lessons, lesson_id)

    def strength(self, machine: Machine) -> Strength:
        return strength_measured_last(machine)

    @staticmethod
    def read(
        file: dict[str, Any], game: Game[Any, Any], rule: ValueRule, head: dict[str, Any], any_size: bool
    ) -> files.WeightsData:
        return files.read(file, game, rule, head)

    def dump(self, machine: Machine, form: Format, *, any_size: bool = False) -> str:
        if form.slug != "native":
            names = {"format": form.name, "machine": machine.name, "kept": "weights"}
            raise ExchangeError("format", "machine_keeps_other", **names)
        return files.dump(machine)

    def fields_read(self, data: files.WeightsData) -> dict[str, Any]:
        return {"side": None, "epsilon": 0.0}

    def restore(self, machine: Machine, data: files.WeightsData) -> None:
        storage.weights_begin(machine, data.weights, data.n_learnt, data.average)

    def holds(self, machine: Machine) -> str:
        memory = storage.weights_memory(machine)
        return f"{len(memory.machine.weights):,} weights, learnt from {memory.machine.n_learnt:,} games"

    def choose(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, rng: RandomSource) -> Choice:
        return live.choose(machine, position)

    def follow(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, move: Any) -> live.Remembered:
        return live.follow(machine, position, move)

    def remember(self, seat: LiveSeat, machine: Machine, memos: Sequence[Memo]) -> Statement:
        """For who looks on: all that it learns from are the moves of the match."""
        return live.remember(seat, machine, memos)

    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        for one in ended:
            memory, tally = self.load(machine), Tally()
            memory.learn_match(live.match_moves(one.live), one.outcome)
            for seat in one.seats:
                tally.add(Result.of(one.outcome, Side(seat.row.side)))
            self.lesson_give(machine, memory, LessonKind.MATCH, Cause(tally, match_id=one.live.match.pk))
        return ()

    def insight(self, match: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        return live.insight(match, seats)

    def level_insight(self, match: LiveMatch, moves: Sequence[LevelMove]) -> Insight | None:
        return levels.insight(match, moves)

    def level_page(self, game: Game[Any, Any]) -> Page | None:
        return levels.page(game)

    def mind(self, machine: Machine, position: Any) -> live.Thinker:
        return live.Thinker(storage.weights_learner(machine))

    def rule_sentences(self, rule: ValueRule) -> list[tuple[str, str]]:
        return sentences(rule)

    def page(self, machine: Machine, asked: Mapping[str, str]) -> Page:
        own, problem = page.context(machine, asked)
        context = super().page(machine, asked).context | own
        return Page("learning/machine_weights.html", context, status=404 if problem else 200)

    def position_view(self, machine: Machine, text: str) -> dict[str, Any]:
        return explanation.position_view(storage.weights_learner(machine), text)

    def admin_list(self, machine: Machine) -> tuple[str, str]:
        return "weights", f"machine__id__exact={machine.pk}"

    def entry_fields(self, machine: Machine) -> dict[str, Any]:
        """What it knew is read from the ledger."""
        return {"epsilon": 0.0, "n_lessons": machine.n_lessons}

    def entrant(self, entry: TournamentEntry, game: Game[Any, Any]) -> ContestPlayer:
        self.entrant_require(entry)
        assert entry.machine_id is not None
        assert entry.n_lessons is not None
        rule = ValueRule.from_json(entry.rule or {})
        learner = storage.weights_learner_at(entry.machine_id, entry.n_lessons, game, rule)
        return ContestPlayer(None, ValuePlayer(learner))

    def entrant_require(self, entry: TournamentEntry) -> None:
        assert entry.n_lessons is not None
        if entry.machine_id is None or not lessons_go_back_to(entry.machine_id, entry.n_lessons):
            raise EntryGoneError(f"{entry.name} was deleted or made to forget while the tournament went on.")


def _sample(meet: Meeting, played: Sequence[Opening], rng: RandomSource, n_games: int) -> Sampled:
    """What comes of so many games with these openings, each from both sides."""
    games = ((opening, side) for opening in played for side in Side)
    return sample(lambda: meet(*next(games), rng), n_games)
