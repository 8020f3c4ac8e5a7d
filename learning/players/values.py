"""The player that moves for machines that keep values, in live matches, and lets them learn when one ends."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from games.models import Match, Seat
from games.players import Choice, player_register
from games.rules.base import Game, Outcome, Side
from learning import events
from learning.core.machines.box_machine import Result
from learning.core.machines.q_learning import Chosen, QRule, ValueStep
from learning.core.machines.q_learning import Decision as Learnt
from learning.core.training.episodes import Tally
from learning.models import Decision, LessonKind, Machine, MachineSeat
from learning.players.machines import VALUES, MachinePlayer, machines_reread, ply_random
from learning.selectors.values import decision_positions, values_insight
from learning.storage.boxes import lesson_open
from learning.storage.locks import machines_locked
from learning.storage.values import steps_store, values_learner, values_most


class ValuesPlayer(MachinePlayer):
    """A machine that keeps values, on either side. Only its learning needs the machine's lock."""

    slug = VALUES

    def plays(self, game: Game[Any, Any]) -> bool:
        return QRule.fits(game)

    def can_sit(self, seat: Seat, side: Side) -> bool:
        return True

    def choose(self, seat: Seat, position: Any) -> Choice:
        machine = self.sitting(seat)
        if machine is None:  # deleted in the middle of the match: there is nobody left to move
            return Choice(None)
        chosen = values_learner(machine).choose(position, ply_random(seat))
        return Choice(chosen.move, memo=(machine, chosen))

    def follow(self, seat: Seat, position: Any, move: Any) -> None:
        machine = self.sitting(seat)
        if machine is not None:
            chosen = values_learner(machine).follow(position, move)
            self.remember(seat, Choice(move, memo=(machine, chosen)))

    def remember(self, seat: Seat, choice: Choice) -> None:
        if choice.memo is None:
            return
        machine: Machine
        chosen: Chosen
        machine, chosen = choice.memo
        Decision.objects.create(
            machine=machine,
            seat=seat,
            ply=seat.match.n_plies,
            key=chosen.decision.key,
            chosen=chosen.index,
            values=[one.value for one in chosen.candidates],
            explored=chosen.explored,
            epsilon=machine.epsilon or 0.0,
        )

    def finish(self, match: Match, outcome: Outcome) -> None:
        seats = list(MachineSeat.objects.filter(seat__match=match).select_related("seat").order_by("seat__side"))
        for machine in machines_locked({one.machine_id for one in seats}).values():
            if machine.learns:
                self._teach(match, machine, [one.seat for one in seats if one.machine_id == machine.pk], outcome)
        machines_reread(match)

    def insight(self, match: Match, seats: list[Seat]) -> dict[str, Any] | None:
        return values_insight(match, seats)

    def _teach(self, match: Match, machine: Machine, seats: list[Seat], outcome: Outcome) -> None:
        """Let a machine learn from its seat, or from both where it has met itself: from the first side's first."""
        learner, tally = values_learner(machine, values_most(machine)), Tally()
        stored = list(Decision.objects.filter(seat__in=seats).order_by("ply"))
        positions = decision_positions(match, {one.ply for one in stored})
        taught: list[tuple[int, ValueStep]] = []
        for seat in seats:
            own = [one for one in stored if one.seat_id == seat.pk]
            decisions = [Learnt(one.key, learner.keys(positions[one.ply])) for one in own]
            result = Result.of(outcome, Side(seat.side))
            steps = zip((one.ply for one in own), learner.learn(decisions, result), strict=True)
            taught += [(ply, step) for ply, step in steps if step is not None]
            tally.add(result)
        machine.epsilon = learner.epsilon
        machine.n_values += learner.values.n_new
        counts = (tally.wins, tally.draws, tally.losses)
        lesson = lesson_open(machine, LessonKind.MATCH, match=match, tally=counts)
        steps_store(machine, taught, lesson)
        transaction.on_commit(lambda: events.boxes_changed(machine, []))


def values_player_register() -> None:
    """Make the player known to live matches; called when the app is ready."""
    player_register(ValuesPlayer())
