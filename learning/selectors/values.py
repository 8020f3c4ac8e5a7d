"""Reads of machines that keep values: what they thought and learnt in a match, what they make of a position."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection

from beadbox.learners.choice import OUTLOOK, Candidate
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import Game
from games.live.players import LiveMatch, LiveSeat
from games.live.states import ActionValue, Insight, LessonState, Thought, ValueChangeState
from learning.exceptions import BoxNotFoundError
from learning.models import Decision, LessonKind, Machine, ValueChange
from learning.selectors.machines import GONE, machine_brief
from learning.selectors.matches import lesson_told, nothing_learnt
from learning.storage.bounds import values_most
from learning.storage.occupants import machine_in


@dataclass(frozen=True, slots=True)
class Sight:
    """What a kind of machine that keeps values sees in a position, and says of what it has learnt."""

    candidates: Callable[[Game[Any, Any], Any, Sequence[float]], Sequence[Candidate]]
    """The legal actions of a position with the values that are stored with a decision there."""
    deed: Callable[[Machine, int], str]
    """What a match did to so many of a machine's values, 1 at least, in words."""
    has_outlook: bool
    """Whether more than its values decides what it plays."""
    n_shown: int | None = None
    """So many actions of a decision are told at most, the best first; what was played always is. ``None``: all."""


def decision_positions(match: LiveMatch, plies: Collection[int]) -> dict[int, Any]:
    """The positions in which these plies of a match were to be played, history and all."""
    game = match.game
    position, positions = game.initial_position(), {}
    moves = [ply.move for ply in match.plies]
    for ply in range(len(moves) + 1):
        if ply in plies:
            positions[ply] = position
        if ply < len(moves):
            position = game.apply(position, game.parse_move(moves[ply]))
    return positions


def values_insight(match: LiveMatch, seats: list[LiveSeat], sight: Sight) -> Insight | None:
    """``learning`` of a room's state: what the machines in these seats thought and learnt (docs/protocol.md)."""
    machines = {machine.pk: machine for seat in seats if (machine := machine_in(seat)) is not None}
    decisions = list(
        Decision.objects.filter(seat__in=[seat.row.pk for seat in seats], ply__lt=match.match.n_plies).order_by("ply")
    )
    if not machines or not (decisions or match.match.is_over):
        return None
    roles = match.game.look.layout.roles
    sides = {seat.row.pk: seat.row.side for seat in seats}
    last = decisions[-1] if decisions else None
    seat = next((one for one in seats if last and one.row.pk == last.seat_id), seats[0])
    machine = machine_in(seat) or next(iter(machines.values()))
    thought = None
    if last is not None:
        position = decision_positions(match, {last.ply})[last.ply]
        thought = _thought_view(match, last, position, roles[sides[last.seat_id]], sight)
    lessons, changes = _learnt(match, seats, sight) if match.match.is_over else ([], [])
    return {
        "role": roles[seat.row.side],
        "machine": machine_brief(machine),
        "box": None,
        "beads_before": None,
        "slot": None,
        "draws": [],
        "lesson": {"result": lessons[0]["result"], "sentence": lessons[0]["sentence"]} if lessons else None,
        "lessons": lessons,
        "changes": [],
        "values": {
            "thought": thought,
            "plies": [
                {
                    "ply": one.ply,
                    "role": roles[sides[one.seat_id]],
                    "value": one.values[one.chosen],
                    "explored": one.explored,
                }
                for one in decisions
            ],
            "changes": changes,
        },
    }


def _thought_view(match: LiveMatch, decision: Decision, position: Any, role: str, sight: Sight) -> Thought:
    """A decision with the values as they were: what it could have played, the best first."""
    game = match.game
    candidates = sight.candidates(game, position, decision.values)
    order = sorted(range(len(candidates)), key=lambda index: (-candidates[index].total, index))
    shown = order[: sight.n_shown]
    if decision.chosen not in shown:
        shown[-1] = decision.chosen
    return {
        "ply": decision.ply,
        "role": role,
        "epsilon": decision.epsilon,
        "explored": decision.explored,
        "has_outlook": sight.has_outlook,
        "n_candidates": len(candidates),
        "candidates": [
            {**_candidate_view(game, position, candidates[index]), "chosen": index == decision.chosen}
            for index in shown
        ],
    }


def _candidate_view(game: Game[Any, Any], position: Any, one: Candidate) -> ActionValue:
    return {
        "move": game.format_move(one.move),
        "name": game.look.tell_move(position, one.move),
        "value": one.value,
        "outlook": one.outlook / OUTLOOK,
        "total": one.total,
        "ends": one.ends,
    }


def _learnt(
    match: LiveMatch, seats: Sequence[LiveSeat], sight: Sight
) -> tuple[list[LessonState], list[ValueChangeState]]:
    """What the match was for each machine, in order of side, and every value that it changed, in order of play."""
    roles = match.game.look.layout.roles
    changes = list(
        ValueChange.objects.filter(lesson__match=match.match).select_related("entry").order_by("ply", "lesson_id", "pk")
    )
    learnt = set(match.match.lessons.filter(kind=LessonKind.MATCH).values_list("machine_id", flat=True))
    of_ply = {ply.number: ply for ply in match.plies}
    lessons: list[LessonState] = []
    for seat in seats:
        machine = machine_in(seat)
        if machine is not None:
            result = "draw" if match.match.winner is None else "win" if match.match.winner == seat.row.side else "loss"
            own = [one for one in changes if one.entry.machine_id == machine.pk and one.ply is not None]
            n_changes = sum(of_ply[one.ply or 0].side == seat.row.side for one in own)
            has_learnt = machine.pk in learnt
            deed = _deed(sight, machine, n_changes) if has_learnt else nothing_learnt(match.match, machine, "values")
            told = lesson_told(machine.name, result, deed, changed=has_learnt and n_changes > 0)
            lessons.append({"role": roles[seat.row.side], "machine": machine_brief(machine), **told})
    game = match.game
    return lessons, [
        {
            "ply": change.ply,
            "role": roles[of_ply[change.ply].side],
            "name": game.look.describe_move(game.parse_move(of_ply[change.ply].move)),
            "before": change.before,
            "after": change.after,
        }
        for change in changes
        if change.ply is not None
    ]


def _deed(sight: Sight, machine: Machine, n_changes: int) -> str:
    return sight.deed(machine, n_changes) if n_changes else "Its values stay as they are."


def position_values(
    machine: Machine, text: str, sees: Callable[[Any], tuple[Sequence[Candidate], Collection[int]]], sight: Sight
) -> dict[str, Any]:
    """What a machine makes of a position, whoever is to move: every action with its value, and where it leads.

    ``sees`` gives the actions in a position, and the places of those that it likes best, out of which it plays one.

    Raises:
        BoxNotFoundError: the text is no position of the game.
    """
    game = machine.game_rules
    try:
        position = game.decode(text)
    except InvalidPositionError as error:
        raise BoxNotFoundError(error.sentence) from None
    outcome = game.outcome(position)
    candidates, best = ((), ()) if outcome is not None else sees(position)
    visits = dict(machine.values.filter(key__in=[one.key for one in candidates]).values_list("key", "n_visits"))
    order = sorted(range(len(candidates)), key=lambda index: -candidates[index].total)
    return {
        "position": text,
        "role": game.look.layout.roles[game.side_to_move(position)],
        "over": None if outcome is None else game.look.reasons[outcome.termination],
        "epsilon": machine.epsilon,
        "has_outlook": sight.has_outlook,
        "moves": [
            {
                **_candidate_view(game, position, candidates[index]),
                "visits": visits.get(candidates[index].key, 0),
                "best": index in best,
                "next": game.encode(game.apply(position, candidates[index].move)),
            }
            for index in order
        ],
    }


def value_errors() -> list[int]:
    """The values (ids) whose ledger is no chain from where they began to what they are: always none.

    Exact: the first change begins at ``start``, each begins with what the one before left, the last leaves the value.
    Those of a machine that is gone are being deleted, in no order.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH kept AS (SELECT entry.* FROM learning_value entry JOIN learning_machine machine"
            " ON machine.id = machine_id WHERE NOT starts_with(slug, %s))"
            " SELECT entry_id FROM"
            " (SELECT change.entry_id, change.before AS found, entry.start, entry.value, change.after,"
            " lag(change.after) OVER ledger AS left_before, lead(change.id) OVER ledger AS following"
            " FROM learning_valuechange change JOIN kept entry ON entry.id = change.entry_id"
            " WINDOW ledger AS (PARTITION BY change.entry_id ORDER BY change.id)) AS chain"
            " WHERE found <> coalesce(left_before, start) OR (following IS NULL AND after <> value)"
            " UNION SELECT id FROM kept entry WHERE value <> start"
            " AND NOT EXISTS (SELECT FROM learning_valuechange WHERE entry_id = entry.id) ORDER BY 1",
            [GONE],
        )
        return [entry_id for (entry_id,) in cursor.fetchall()]


def values_miscounted() -> list[int]:
    """The machines (ids) that do not have as many values as they carry as their number: always none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM learning_machine machine LEFT JOIN"
            " (SELECT machine_id, count(*) AS n FROM learning_value GROUP BY machine_id) counted ON machine_id = id"
            " WHERE n_values <> coalesce(n, 0) AND NOT starts_with(slug, %s) ORDER BY id",
            [GONE],
        )
        return [machine_id for (machine_id,) in cursor.fetchall()]


def values_full(machine: Machine) -> str:
    """What to say of a machine that has as many values as it may have; nothing of one that has not."""
    most = values_most(machine)
    if machine.n_values < most:
        return ""
    why = f"a machine may have {settings.VALUES_PER_MACHINE:,}"
    if most < settings.VALUES_PER_MACHINE:
        why = f"the machines of its account may have {settings.VALUES_PER_ACCOUNT:,} together"
    return f"It learns no new values, for {why}. Its present values go on learning."
