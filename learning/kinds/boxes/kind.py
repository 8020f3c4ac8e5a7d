"""What the site asks of a machine with boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from beadbox.exchange.document import MachineData
from beadbox.exchange.native import boxes_machine
from beadbox.exchange.registry import Format
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.memory import Memory, TouchedBox
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.learners.boxes.printed_set import printed_set
from beadbox.learners.boxes.rule import BoxRule, OpenBoxes
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.presets import DEFAULT_PRESETS, PRESETS
from beadbox.learners.rule import RuleError
from beadbox.printing.sheets import PrintChoices, PrintOptions
from beadbox.rules.game import Game
from beadbox.rules.outcome import Side
from beadbox.tournaments.contest import ContestPlayer
from games.live.players import Choice, LiveMatch, LiveSeat, Statement
from games.live.states import Insight
from learning import events
from learning.exceptions import GameTooLargeError, RuleRefusedError, TrainingRefusedError
from learning.kinds.base import FIRST_CHUNK_GAMES, Ended, Kind, Page
from learning.kinds.boxes import files, live, page
from learning.kinds.boxes.progress import progress
from learning.kinds.boxes.text import GROUPS, WORDS, sentences
from learning.models import LessonKind, Machine, TournamentEntry
from learning.selectors.boxes import bead_marks, has_drawings
from learning.selectors.matches import match_insight
from learning.selectors.strength import (
    CURVE_AGAINST,
    SAMPLE_GAMES,
    Strength,
    strength_exact,
    strength_kept,
    strength_sampled,
)
from learning.states import Progress, box_news
from learning.storage import boxes as storage
from learning.storage.folding import BOXES
from learning.storage.lessons import Cause, lessons_open
from learning.storage.occupants import draws_insert


class BoxKind(Kind):
    """Machines that keep beads in boxes, and play one side for good."""

    rule = BoxRule
    presets = PRESETS
    words = WORDS
    groups = GROUPS
    noun = "boxes"
    see = "See its boxes"
    see_all = "See all its boxes"
    see_named = "All boxes of {name}"
    why = "why"
    tells = "boxes"
    copies_rows = False
    ledger = BOXES
    against = ("random", "win_block")
    n_sample = SAMPLE_GAMES

    def usual_preset(self, game: Game[Any, Any], side: Side | None) -> str:
        if side is None:
            raise RuleRefusedError("side: A machine that keeps boxes plays one side for good.")
        return DEFAULT_PRESETS[side]

    def usual_name(self, game: Game[Any, Any], side: Side | None, preset: str) -> str:
        role = "" if side is None else game.look.layout.roles[side]
        return f"{PRESETS[preset].name if preset else game.name} {role}"

    def suited(self, game: Game[Any, Any], rule: BoxRule) -> BoxRule:
        """Where boxes cannot be laid out in advance, they are opened when met. The play is the same."""
        return rule if game.enumerable else replace(rule, open_boxes=OpenBoxes.WHEN_MET)

    def rule_require(self, game: Game[Any, Any], rule: BoxRule) -> None:
        if not game.enumerable and rule.open_boxes is OpenBoxes.IN_ADVANCE:
            raise GameTooLargeError(
                f"open_boxes: {game.name} {game.why_unlisted}, so the boxes cannot be laid out in advance."
                " They can be opened when met."
            )

    def lay_out(self, machine: Machine) -> None:
        if machine.box_rule.open_boxes is OpenBoxes.IN_ADVANCE:
            storage.boxes_lay_out(machine, Memory.fresh(storage.table_of(machine)))

    def fields_copied(self, original: Machine) -> dict[str, Any]:
        return storage.boxes_share(original)

    def unshare(self, machine: Machine) -> None:
        storage.boxes_unshare(machine)

    def forget(self, machine: Machine) -> None:
        storage.boxes_forget(machine)

    def reset(self, machine: Machine) -> None:
        storage.boxes_reset(machine)

    def load(self, machine: Machine, most: int | None = None) -> Memory | OpenMemory:
        return storage.boxes_load(machine)

    def store(self, machine: Machine, memory: Memory | OpenMemory, lesson_id: int) -> Sequence[TouchedBox]:
        touched = memory.touched()
        storage.boxes_store(machine, {lesson_id: touched})
        return touched

    def fields_learnt(self, machine: Machine, memory: Memory | OpenMemory) -> dict[str, Any]:
        return {"n_removed": memory.n_removed}

    def n_first_games(self, machine: Machine) -> int:
        """The readable loop, where that has to play, gets a thousandth: it is so much slower."""
        return FIRST_CHUNK_GAMES if machine.game_rules.enumerable else super().n_first_games(machine)

    def has_table(self, machine: Machine) -> bool:
        return machine.game_rules.enumerable

    def partner_require(self, machine: Machine, other: Machine) -> None:
        super().partner_require(machine, other)
        if other.box_rule.reduce_symmetry != machine.box_rule.reduce_symmetry:
            raise TrainingRefusedError("opponent: one of the two sees boards as they lie, the other up to symmetry.")

    def partners(self, machine: Machine, among: QuerySet[Machine]) -> QuerySet[Machine]:
        """The same game, the other side, the same sight of boards."""
        sight, side = machine.box_rule.reduce_symmetry, machine.cabinet.side.other
        return among.filter(game=machine.game, side=side, rule_json__reduce_symmetry=sight)

    def measured_against(self, machine: Machine) -> Sequence[str]:
        """Where strength is exact those who can be summed over; a game too large for that has no perfect player."""
        return self.against if self.is_sampled(machine) else [slug for slug in CURVE_AGAINST if slug != "medium"]

    def measured(self, memory: Memory | OpenMemory, rng: RandomSource) -> Strength:
        return strength_exact(memory) if isinstance(memory, Memory) else strength_sampled(memory, rng)

    def strength(self, machine: Machine) -> Strength:
        return strength_kept(machine, lambda: self.measured(self.load(machine), RandomSource(machine.n_lessons)))

    def progress(self, machine: Machine, *, to_owner: bool) -> Progress:
        return progress(machine, to_owner=to_owner)

    @staticmethod
    def read(
        file: dict[str, Any], game: Game[Any, Any], rule: BoxRule, head: dict[str, Any], any_size: bool
    ) -> MachineData:
        return boxes_machine(file, game, rule, head, any_size)

    def dump(self, machine: Machine, form: Format, *, any_size: bool = False) -> str:
        return form.dump(files.machine_data(machine))

    def fields_read(self, data: MachineData) -> dict[str, Any]:
        return {"side": data.side, "n_removed": data.removed}

    def restore(self, machine: Machine, data: MachineData) -> None:
        storage.boxes_restore(machine, ((box.position, box.beads, box.visits) for box in data.boxes))

    def import_notes(self, machine: Machine, data: MachineData, rule_name: str, choose: str) -> list[str]:
        return files.import_notes(machine, data, rule_name, choose)

    def print_choices(self, machine: Machine) -> PrintChoices:
        n_drawings = len(printed_set(machine.cabinet)) if has_drawings(machine) else 0
        return PrintChoices(bead_marks(machine), n_drawings)

    def sheets(self, machine: Machine, options: PrintOptions) -> BytesIO:
        return files.machine_sheets(machine, options)

    def holds(self, machine: Machine) -> str:
        return f"{machine.boxes.count():,} boxes"

    def choose(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, rng: RandomSource) -> Choice:
        return live.choose(match, seat, machine, position, rng, self._refill(match))

    def follow(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, move: Any) -> BeadDraw | None:
        return live.follow(match, seat, machine, position, move, self._refill(match))

    def _refill(self, match: LiveMatch) -> live.Refill:
        def refill(machine: Machine, memory: OpenMemory) -> None:
            touched = self.lesson_give(machine, memory, LessonKind.REFILL, Cause(match_id=match.match.pk))
            told = box_news(touched, machine.n_lessons)
            transaction.on_commit(partial(events.boxes_changed, machine, told, [machine.n_lessons]))

        return refill

    def remember(self, seat: LiveSeat, machine: Machine, memos: Sequence[tuple[int, BeadDraw]]) -> Statement:
        stores = draws_insert(seat, machine, memos)
        _, last = memos[-1]
        if last.slot is None:
            return stores
        return stores._replace(after=partial(events.bead_drawn, machine, {"position": last.box, "slot": last.slot}))

    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        """All of them together: what they have opened is read once, and every lesson stored in two statements."""
        taught = live.taught(machine, ended)
        machine.n_removed = taught[-1].n_removed
        causes = [Cause(one.tally, match_id=of.live.match.pk) for one, of in zip(taught, ended, strict=True)]
        lessons = lessons_open(machine, LessonKind.MATCH, causes)
        touched = [one.touched for one in taught]
        storage.boxes_store(machine, dict(zip(lessons, touched, strict=True)))
        for one, of in zip(taught, ended, strict=True):
            for seat in of.seats:
                seat.occupant.learnt = one.touched
        return list(chain.from_iterable(touched))

    def mind(self, machine: Machine, position: Any) -> BoxMachine:
        return live.mind(machine, position)

    def insight(self, match: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        return match_insight(match, seats)

    def counts_level(self, rule: BoxRule) -> bool:
        return rule.counts_level

    def rule_sentences(self, rule: BoxRule) -> list[tuple[str, str]]:
        return sentences(rule)

    def facts(self, machine: Machine) -> dict[str, Any]:
        told = sentences(machine.box_rule, has_draws=machine.game_rules.has_draws)
        return super().facts(machine) | {"rule_sentences": told}

    def page(self, machine: Machine, asked: Mapping[str, str]) -> Page:
        return Page("learning/machine.html", page.context(machine, self.facts(machine), self.strength(machine)))

    def admin_list(self, machine: Machine) -> tuple[str, str]:
        return "box", f"machine__id__exact={machine.pk}"

    def rule_to_form(self, rule: BoxRule) -> dict[str, Any]:
        return {**super().rule_to_form(rule), "initial": ", ".join(map(str, rule.initial))}

    def rule_from_form(self, values: dict[str, Any]) -> dict[str, Any]:
        try:
            initial = [int(number) for number in values["initial"].replace(",", " ").split()]
        except ValueError:
            problem = "Please give whole numbers with commas between them, such as 4, 3, 2, 1."
            raise RuleError("initial", problem) from None
        counts = {name: values[name] or 0 for name in ("win", "draw", "loss", "floor")}
        return {**values, "initial": initial, **counts}

    def entry_fields(self, machine: Machine) -> dict[str, Any]:
        beads = dict(machine.boxes.values_list("position", "beads"))
        return {"side": machine.side, "beads": beads}

    def entrant(self, entry: TournamentEntry, game: Game[Any, Any]) -> ContestPlayer:
        assert entry.side is not None
        assert entry.beads is not None
        boxes = boxes_compile(game, Side(entry.side), BoxRule.from_json(entry.rule))
        rows = ((position, beads, [0] * len(beads)) for position, beads in entry.beads.items())
        memory = Memory.load(boxes, rows)
        return ContestPlayer(memory, FrozenBoxes(memory))
