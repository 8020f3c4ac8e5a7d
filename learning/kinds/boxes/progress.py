"""The progress of a machine with boxes: latest results, first box, and exact strength after each lesson."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db import connection

from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.strength import against_opponent
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from learning.kinds.boxes.look import slots_view
from learning.kinds.boxes.memory import table_load
from learning.kinds.boxes.why import why_view
from learning.models import CurvePoint, LessonKind, Machine
from learning.selectors.strength import STRENGTH_CACHE_S
from learning.states import BeadLabel, FirstBox, FirstMove, LatestResults, Progress

CURVE_POINTS = 40
"""Maximum number of lessons of the curve, evenly spaced; the last lesson is added."""
LOOKED_AT = 5000
"""Latest lessons that the curve is made of; earlier lessons are not read."""
RUNS_LOOKED_AT = 10
"""Latest training runs that add their own curves, measured within a lesson, to the curve."""
BOXES_READ = 20_000
"""Maximum number of boxes read for all points of a curve together; each point reads all of the machine's own boxes."""
LATEST = 10
"""Number of latest matches with a result on the page."""
RANDOM, PERFECT = UNIFORM["random"], UNIFORM["perfect"]

BEADS_AFTER = """
    SELECT number, box.position, coalesce((
        SELECT after FROM learning_change WHERE box_id = box.id AND lesson_id <= (
            SELECT max(id) FROM learning_lesson WHERE machine_id = box.machine_id AND number <= wanted.number)
        ORDER BY lesson_id DESC, id DESC LIMIT 1), box.start)
    FROM unnest(%s::bigint[]) AS wanted (number) CROSS JOIN learning_box AS box WHERE box.machine_id = %s"""
"""The beads of a machine's own boxes after given lessons; shared boxes have never changed."""


class Strong(NamedTuple):
    """Exact strength: points in a game against random play, probability of no loss against perfect play."""

    points: float
    holds: float


Curve = Sequence[tuple[int, Strong]]
"""Strength after each number of games, ascending."""


def progress(machine: Machine, *, to_owner: bool = False) -> Progress:
    """The machine's progress in figures and in words; its strength only where that can be computed exactly."""
    whom = " against you" if to_owner and machine.is_pupil else ""
    results = _results(machine)
    first, box, does = _first(machine)
    curve = _curve(machine) if machine.game_rules.listable else []
    now = curve[-1][1] if curve else None
    return {
        "games": machine.n_games,
        "latest": _counted(results),
        "results": results,
        "first": first,
        "first_box": box,
        "points": now and now.points,
        "points_curve": [[games, one.points] for games, one in curve],
        "holds": now and now.holds,
        "curve": [[games, one.holds] for games, one in curve],
        "words": _words(machine, results, first["after"], does),
        "points_words": points_words(whom, results, curve),
        "curve_words": holds_words(whom, results, curve),
    }


def _results(machine: Machine) -> list[str]:
    """The results of its latest matches, oldest first."""
    lessons = machine.lessons.filter(kind=LessonKind.MATCH).order_by("-number")[:LATEST]
    found: list[str] = []
    for wins, draws, losses in lessons.values_list("n_wins", "n_draws", "n_losses"):
        found += ["win"] * wins + ["draw"] * draws + ["loss"] * losses
    return found[:LATEST][::-1]


def _counted(results: Sequence[str]) -> LatestResults:
    return {"wins": results.count("win"), "draws": results.count("draw"), "losses": results.count("loss")}


def _first(machine: Machine) -> tuple[FirstMove, FirstBox | None, str]:
    """The machine's likely first move, the box for that move if there is a choice, and a phrase on the move.

    If the other side begins, its opening is the one that the machine has met most often.
    """
    game, cabinet = machine.game_rules, machine.cabinet
    start = game.initial_position()
    begun, asked = "", start
    if machine.side == Side.SECOND:
        boxes = machine.boxes.filter(move_number=1).values_list("position", "visits")
        met = {position: sum(visits) for position, visits in boxes}
        openings = [(move, game.apply(start, move)) for move in game.legal_moves(start)]
        keys = {move: game.encode(cabinet.box_position(after)) for move, after in openings}
        opening, asked = max(openings, key=lambda one: met.get(keys[one[0]], 0))
        begun = game.look.describe_move(opening)
    why, printed = why_view(machine, game.encode(asked)), cabinet.box_position(asked)
    box: FirstBox | None = None
    if not why["forced"]:
        laid_out = cabinet.initial_beads(printed)
        slots: list[BeadLabel] = [
            {"colour": slot["colour"], "mark": slot["mark"], "name": slot["name"]}
            for slot in slots_view(cabinet, printed)
        ]
        held = machine.boxes.filter(position=why["box_position"]).values_list("start", "beads").first()
        before, now = held or (laid_out, laid_out)
        box = {"after": begun, "slots": slots, "before": before, "now": now}
    if why["resigns"]:
        return {"after": begun, "move": None, "chance": 1.0}, box, "gives up"
    by_slot: dict[Any, list[dict[str, Any]]] = {}
    for move in why["moves"]:
        by_slot.setdefault(move["slot"], []).append(move)
    chances = {slot: sum(move["probability"] for move in moves) for slot, moves in by_slot.items()}
    likely = max(chances, key=chances.__getitem__)
    first: FirstMove = {"after": begun, "move": by_slot[likely][0]["name"], "chance": min(chances[likely], 1.0)}
    return first, box, _does(by_slot[likely], list(chances.values()))


def _does(moves: Sequence[Mapping[str, Any]], chances: Sequence[float]) -> str:
    """A phrase on the first move: ``moves`` are those of the likeliest bead, ``chances`` those of all beads."""
    best, (name, mark) = max(chances), (moves[0]["name"], moves[0]["mark"])
    if mark is None or (best == 1 and len(moves) == 1):
        return f"always chooses {name}"
    if len(chances) > 1 and best - min(chances) < 1e-9:
        return "draws each kind of bead equally often"
    bead = f"bead {mark} ({'such as ' if len(moves) > 1 else ''}{name})"
    return f"always draws {bead}" if best == 1 else f"draws {bead} in {hundred(best)} of 100 games"


def _curve(machine: Machine) -> Curve:
    """The strength by games played. Each point is computed once and then cached."""
    places, trained = _places(machine)
    keys = {number: f"strong:{machine.pk}:{machine.created_at.timestamp()}:{number}" for number in places}
    known: dict[str, Strong] = cache.get_many(list(keys.values()))
    missing = [number for number, key in keys.items() if key not in known]
    if missing:
        found = {keys[number]: value for number, value in _strong(machine, missing).items()}
        cache.set_many(found, STRENGTH_CACHE_S)
        known |= found
    found_before = _measured(machine, trained)
    return sorted((found_before | {games: known[keys[number]] for number, games in places.items()}).items())


def _measured(machine: Machine, trained: Mapping[int, tuple[int, int]]) -> dict[int, Strong]:
    """Strength by games, as measured in trainings that the ledger holds whole; few points, evenly spaced."""
    if not trained:
        return {}
    runs = sorted(trained, reverse=True)[:RUNS_LOOKED_AT]
    points = CurvePoint.objects.filter(run__in=runs, run__machine=machine).order_by("run_id", "games_done")
    found = []
    for run, n_games, games, strength in points.values_list("run_id", "run__games_done", "games_done", "strength"):
        before, n_known = trained[run]
        if n_known == n_games:
            random, perfect = strength["random"], strength["perfect"]
            strong = Strong(random["win"] + random["draw"] / 2, perfect["win"] + perfect["draw"])
            found.append((before + games, strong))
    return dict(found[:: -(-len(found) // CURVE_POINTS) or 1])


def _places(machine: Machine) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
    """The lessons of the curve, as games played by the lesson's number. Few, and mostly the same from match to match.

    The second part has the training runs of these lessons: the games before each run, and the games that its lessons
    count.
    """
    lessons = machine.lessons.order_by("-number").values_list(
        "number", "stands_for", "run_id", "n_wins", "n_draws", "n_losses"
    )
    games, first, found = machine.n_games, machine.n_lessons, dict[int, int]()
    trained: dict[int, tuple[int, int]] = {}
    for number, n_together, run, *tally in lessons[:LOOKED_AT]:
        last = number + n_together - 1
        if any(tally) and last >= machine.n_folded:  # not between compacted lessons, which may be incomplete
            found[last] = games
        first, games = number - 1, games - sum(tally)
        if run is not None:
            trained[run] = games, trained.get(run, (0, 0))[1] + sum(tally)
    if not games:
        found[first] = 0
    if not found:  # imported, or many lessons without a game: only the present strength is known
        found[machine.n_lessons] = machine.n_games
    most = max(2, min(CURVE_POINTS, BOXES_READ // max(1, machine.own_boxes.count())))
    step = 1
    while len(found) > most * step:
        step *= 2
    ends = (min(found), max(found)) if not games else (max(found),)
    places = {number: at for number, at in sorted(found.items()) if number % step == 0 or number in ends}
    return places, trained


def _strong(machine: Machine, numbers: Sequence[int]) -> dict[int, Strong]:
    """The strength after each of these lessons; two queries."""
    memory = table_load(machine)
    beads: dict[int, list[tuple[str, list[int]]]] = {number: [] for number in numbers}
    with connection.cursor() as cursor:
        cursor.execute(BEADS_AFTER, [list(numbers), machine.pk])
        for number, position, held in cursor.fetchall():
            beads[number].append((position, held))
    found = {}
    for number, held in beads.items():
        then = _memory(memory, held)
        perfect = against_opponent(then, PERFECT)
        found[number] = Strong(against_opponent(then, RANDOM).score, perfect.win + perfect.draw)
    return found


def _memory(now: Memory, held: Sequence[tuple[str, list[int]]]) -> Memory:
    """A copy of the present memory with other beads in these boxes."""
    memory = now.copy()
    for position, beads in held:
        memory.beads[memory.slots(memory.table.box_id[position])] = beads
    memory.__post_init__()
    return memory


def _words(machine: Machine, results: Sequence[str], begun: str, does: str) -> str:
    n_games, n_latest = machine.n_games, len(results)
    said = [
        f"It has played {n_games:,} game{'' if n_games == 1 else 's'}."
        if n_games
        else "It has not finished a game yet."
    ]
    if n_latest == 1:
        said.append(
            {"win": "It won its last match.", "draw": "It drew its last match."}.get(
                results[0], "It lost its last match."
            )
        )
    elif n_latest:
        counts = _counted(results)
        which = "It" if n_latest == n_games else f"Of its last {n_latest} matches it"
        said.append(f"{which} won {counts['wins']}, drew {counts['draws']} and lost {counts['losses']}.")
    said.append(f"If you begin with {begun}, it {does}." if begun else f"At the start it {does}.")
    return " ".join(said)


def points_words(whom: str, results: Sequence[str], curve: Curve) -> str:
    """Sentences on the points against random play, with the reason if they have fallen."""
    if not curve:
        return ""
    (games, began), (_, now) = curve[0], curve[-1]
    since = _since(began.points, now.points, games, curve)
    said = f"Against random play it would get {hundred(now.points)} points in 100 games{since}"
    lost = f"It lost{whom}, so it took out beads of moves that often beat random play."
    won = f"It learnt moves that work{whom}, but less often against random play."
    return said + _why_fallen(began.points, now.points, results, lost=lost, won=won)


def holds_words(whom: str, results: Sequence[str], curve: Curve) -> str:
    """Sentences on the result against perfect play, with the reason if it has become worse."""
    if not curve:
        return ""
    (games, began), (_, now) = curve[0], curve[-1]
    if not max(one.holds for _, one in curve):
        return "Against a perfect player it would lose every game."
    since = _since(began.holds, now.holds, games, curve)
    said = f"Against a perfect player it would avoid losing in {hundred(now.holds)} of 100 games{since}"
    lost = f"It lost{whom}, so it took out beads of moves that are safe against a perfect player."
    won = f"It won{whom} with moves that a perfect player would punish."
    return said + _why_fallen(began.holds, now.holds, results, lost=lost, won=won)


def _since(began: float, now: float, games: int, curve: Curve) -> str:
    """The end of a sentence: a figure's value where the curve begins."""
    if len(curve) < 2:
        return "."
    when = f"after {games:,} game{'' if games == 1 else 's'}" if games else "before its first game"
    return f", the same as {when}." if hundred(began) == hundred(now) else f". It was {hundred(began)} {when}."


def _why_fallen(began: float, now: float, results: Sequence[str], *, lost: str, won: str) -> str:
    """The sentence, after a blank, for a figure that has visibly fallen; otherwise empty."""
    if round(100 * now) >= round(100 * began):
        return ""
    return f" {lost if results.count('loss') > results.count('win') else won}"


def hundred(share: float) -> str:
    """A share as a whole number of 100; a share near 0 or 1 is not rounded to 0 or 100."""
    if 0 < share < 0.005:
        return "less than 1"
    if 0.995 <= share < 1:
        return "more than 99"
    return f"{100 * share:.0f}"
