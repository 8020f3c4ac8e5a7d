"""How far a machine with boxes has come: its games, its first move, its exact strength after each lesson and within."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.cache import cache
from django.db import connection

from games.rules.base import Side
from learning.core.opponents.registry import UNIFORM
from learning.core.training.memory import Memory
from learning.core.training.strength import Expected, against_opponent
from learning.models import CurvePoint, LessonKind, Machine
from learning.selectors.boxes import why_view
from learning.selectors.strength import STRENGTH_CACHE_S
from learning.states import FirstMove, LatestTold, Progress
from learning.storage.boxes import table_load

CURVE_POINTS = 40
"""The curve has at most so many lessons, evenly spaced, and the last."""
LOOKED_AT = 5000
"""Of a machine with more lessons the curve is of its latest."""
RUNS_LOOKED_AT = 10
"""The latest trainings whose own curves are part of it: what was measured within a lesson."""
BOXES_READ = 20_000
"""All points of a curve together read so many boxes at most: a point needs all that the machine has of its own."""
LATEST = 10
"""So many of its latest matches are counted together."""

BEADS_AFTER = """
    SELECT number, box.position, coalesce((
        SELECT after FROM learning_change WHERE box_id = box.id AND lesson_id <= (
            SELECT max(id) FROM learning_lesson WHERE machine_id = box.machine_id AND number <= wanted.number)
        ORDER BY lesson_id DESC, id DESC LIMIT 1), box.start)
    FROM unnest(%s::bigint[]) AS wanted (number) CROSS JOIN learning_box AS box WHERE box.machine_id = %s"""
"""The beads of a machine's own boxes after each of some lessons; what it shares has never changed."""


def progress(machine: Machine) -> Progress:
    """How far the machine has come, in figures and in words; its strength and curve where they can be known exactly."""
    latest = _latest(machine)
    first = _first_move(machine)
    curve = _curve(machine) if machine.game_rules.enumerable else []
    holds = curve[-1][1] if curve else None
    return {
        "games": machine.n_games,
        "latest": latest,
        "first": first,
        "holds": holds,
        "curve": [list(point) for point in curve],
        "words": _words(machine, latest, first, holds),
        "curve_words": _curve_words(curve),
    }


def _latest(machine: Machine) -> LatestTold:
    """Won, drawn and lost of its latest matches."""
    lessons = machine.lessons.filter(kind=LessonKind.MATCH).order_by("-number")[:LATEST]
    tallies = list(lessons.values_list("n_wins", "n_draws", "n_losses"))
    wins, draws, losses = (sum(tally[place] for tally in tallies) for place in range(3))
    return {"wins": wins, "draws": draws, "losses": losses}


def _first_move(machine: Machine) -> FirstMove | None:
    """What it would do first: on the empty board, or where somebody begins as it has met most often."""
    game = machine.game_rules
    start = game.initial_position()
    begun, asked = "", start
    if machine.side == Side.SECOND:
        boxes = machine.boxes.filter(move_number=1).values_list("position", "visits")
        met = {position: sum(visits) for position, visits in boxes}
        openings = [(move, game.apply(start, move)) for move in game.legal_moves(start)]
        keys = {move: game.encode(machine.cabinet.box_position(after)) for move, after in openings}
        opening, asked = max(openings, key=lambda one: met.get(keys[one[0]], 0))
        begun = game.look.describe_move(opening)
    why = why_view(machine, game.encode(asked))
    if why["resigns"]:
        return {"after": begun, "move": None, "chance": 1.0}
    by_slot: dict[Any, list[dict[str, Any]]] = {}
    for move in why["moves"]:
        by_slot.setdefault(move["slot"], []).append(move)
    likely = max(by_slot.values(), key=lambda moves: sum(move["probability"] for move in moves))
    return {"after": begun, "move": likely[0]["name"], "chance": sum(move["probability"] for move in likely)}


def _curve(machine: Machine) -> list[tuple[int, float]]:
    """Games, and the exact chance not to lose against perfect play after so many: each worked out once."""
    places, trained = _places(machine)
    keys = {number: f"holds:{machine.pk}:{machine.created_at.timestamp()}:{number}" for number in places}
    known: dict[str, float] = cache.get_many(list(keys.values()))
    missing = [number for number, key in keys.items() if key not in known]
    if missing:
        found = {keys[number]: value for number, value in _holds(machine, missing).items()}
        cache.set_many(found, STRENGTH_CACHE_S)
        known |= found
    found_before = _measured(machine, trained)
    return sorted((found_before | {games: known[keys[number]] for number, games in places.items()}).items())


def _measured(machine: Machine, trained: Mapping[int, tuple[int, int]]) -> dict[int, float]:
    """By games what was measured in those trainings that are in the ledger whole; few, evenly spaced."""
    if not trained:
        return {}
    runs = sorted(trained, reverse=True)[:RUNS_LOOKED_AT]
    points = CurvePoint.objects.filter(run__in=runs, run__machine=machine).order_by("run_id", "games_done")
    found = []
    for run, n_games, games, perfect in points.values_list(
        "run_id", "run__games_done", "games_done", "strength__perfect"
    ):
        before, n_told = trained[run]
        if n_told == n_games:
            found.append((before + games, perfect["win"] + perfect["draw"]))
    return dict(found[:: -(-len(found) // CURVE_POINTS) or 1])


def _places(machine: Machine) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
    """The lessons of the curve: after which number, how many games. Few, and mostly the same from match to match.

    Beside them the trainings that they are of: how many games before each, and how many the lessons tell of.
    """
    lessons = machine.lessons.order_by("-number").values_list(
        "number", "stands_for", "run_id", "n_wins", "n_draws", "n_losses"
    )
    games, first, found = machine.n_games, machine.n_lessons, dict[int, int]()
    trained: dict[int, tuple[int, int]] = {}
    for number, n_together, run, *tally in lessons[:LOOKED_AT]:
        last = number + n_together - 1
        if any(tally) and last >= machine.n_folded:  # between folded ones nothing is told: they may be so in part
            found[last] = games
        first, games = number - 1, games - sum(tally)
        if run is not None:
            trained[run] = games, trained.get(run, (0, 0))[1] + sum(tally)
    if not games:
        found[first] = 0
    if not found:  # brought in, or of many lessons without a game: all that is known is how it stands
        found[machine.n_lessons] = machine.n_games
    most = max(2, min(CURVE_POINTS, BOXES_READ // max(1, machine.own_boxes.count())))
    step = 1
    while len(found) > most * step:
        step *= 2
    ends = (min(found), max(found)) if not games else (max(found),)
    places = {number: at for number, at in sorted(found.items()) if number % step == 0 or number in ends}
    return places, trained


def _holds(machine: Machine, numbers: Sequence[int]) -> dict[int, float]:
    """The exact chance not to lose against perfect play after each of these lessons. Two queries."""
    memory = table_load(machine)
    beads: dict[int, list[tuple[str, list[int]]]] = {number: [] for number in numbers}
    with connection.cursor() as cursor:
        cursor.execute(BEADS_AFTER, [list(numbers), machine.pk])
        for number, position, held in cursor.fetchall():
            beads[number].append((position, held))
    return {number: _not_lost(against_opponent(_memory(memory, held), UNIFORM["perfect"])) for number, held in
            beads.items()}  # fmt: skip


def _memory(now: Memory, held: Sequence[tuple[str, list[int]]]) -> Memory:
    """A memory as it is now but for these boxes."""
    memory = now.copy()
    for position, beads in held:
        memory.beads[memory.slots(memory.table.box_id[position])] = beads
    memory.__post_init__()
    return memory


def _not_lost(expected: Expected) -> float:
    return expected.win + expected.draw


def _words(machine: Machine, latest: LatestTold, first: FirstMove | None, holds: float | None) -> str:
    n_games, n_latest = machine.n_games, latest["wins"] + latest["draws"] + latest["losses"]
    played = f"{n_games:,} game{'' if n_games == 1 else 's'}."
    said = [played if n_games else "No game yet: it knows nothing."]
    if n_latest == 1:
        said.append(f"It {'won' if latest['wins'] else 'drew' if latest['draws'] else 'lost'} its last match.")
    elif n_latest:
        which = "It" if n_latest == n_games else f"Of its last {n_latest} matches it"
        said.append(f"{which} won {latest['wins']}, drew {latest['draws']} and lost {latest['losses']}.")
    if first is not None:
        where = f"If you begin with {first['after']}, it" if first["after"] else "It"
        sure = hundred(first["chance"])
        said.append(
            f"{where} would now play {first['move']}, {sure} times in 100." if first["move"] else f"{where} gives up."
        )
    if holds is not None:
        said.append(f"Against perfect play it would not lose {hundred(holds)} games of 100.")
    return " ".join(said)


def hundred(share: float) -> str:
    """A share as a number of 100, never 0 or 100 unless it is."""
    if 0 < share < 0.005:
        return "less than 1"
    if 0.995 <= share < 1:
        return "more than 99"
    return f"{100 * share:.0f}"


def _curve_words(curve: Sequence[tuple[int, float]]) -> str:
    """The curve for who cannot see it: where it began, where it stands, where it was best."""
    if len(curve) < 2:
        return ""
    (_, began), (games, now) = curve[0], curve[-1]
    best_at, best = max(curve, key=lambda point: point[1])
    words = f"Games of 100 not lost against perfect play: {hundred(began)} at the start, {hundred(now)} after {games:,}"
    return words + (f"; most after {best_at:,}, {hundred(best)}." if best > max(began, now) else ".")
