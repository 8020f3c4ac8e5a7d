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

MAX_CURVE_LESSONS = 40
"""Maximum number of lessons with a point on the curve, evenly spaced; the last lesson is added."""
MAX_READ_LESSONS = 5000
"""Maximum number of lessons read for the curve, latest first."""
MAX_READ_RUNS = 10
"""Maximum number of training runs, latest first, with points between lessons that are added to the curve."""
MAX_READ_BOXES = 20_000
"""Maximum number of boxes read for all points of a curve together; a point reads all of the machine's own boxes."""
MAX_RESULTS = 10
"""Maximum number of results shown, latest matches first."""
RANDOM, PERFECT = UNIFORM["random"], UNIFORM["perfect"]

BEADS_AFTER_SQL = """
    SELECT number, box.position, coalesce((
        SELECT after FROM learning_change WHERE box_id = box.id AND lesson_id <= (
            SELECT max(id) FROM learning_lesson WHERE machine_id = box.machine_id AND number <= wanted.number)
        ORDER BY lesson_id DESC, id DESC LIMIT 1), box.start)
    FROM unnest(%s::bigint[]) AS wanted (number) CROSS JOIN learning_box AS box WHERE box.machine_id = %s"""
"""Selects the beads of a machine's own boxes after given lessons. Shared boxes are left out: they have not changed."""


class CurveStrength(NamedTuple):
    """The exact strength of a machine at one point of its curve."""

    points: float
    """Expected points in a game against random play."""
    holds: float
    """Probability not to lose a game against perfect play."""


Curve = Sequence[tuple[int, CurveStrength]]
"""Strength after each number of games, ascending."""


def progress(machine: Machine, *, to_owner: bool = False) -> Progress:
    """Return the machine's progress in figures and sentences, with its strength if its game can be listed.

    ``to_owner`` addresses the owner of a personal machine as "you".
    """
    opponent_phrase = " against you" if to_owner and machine.is_pupil else ""
    results = _results(machine)
    first_move, first_box, move_phrase = _first_move(machine)
    curve = _curve(machine) if machine.game_rules.listable else []
    present = curve[-1][1] if curve else None
    return {
        "games": machine.n_games,
        "latest": _count_results(results),
        "results": results,
        "first": first_move,
        "first_box": first_box,
        "points": present and present.points,
        "points_curve": [[games, strength.points] for games, strength in curve],
        "holds": present and present.holds,
        "curve": [[games, strength.holds] for games, strength in curve],
        "words": _sentences(machine, results, first_move["after"], move_phrase),
        "points_words": points_sentences(opponent_phrase, results, curve),
        "curve_words": no_loss_sentences(opponent_phrase, results, curve),
    }


def _results(machine: Machine) -> list[str]:
    """Return the results of the machine's latest matches, oldest first."""
    lessons = machine.lessons.filter(kind=LessonKind.MATCH).order_by("-number")[:MAX_RESULTS]
    results: list[str] = []
    for wins, draws, losses in lessons.values_list("n_wins", "n_draws", "n_losses"):
        results += ["win"] * wins + ["draw"] * draws + ["loss"] * losses
    return results[:MAX_RESULTS][::-1]


def _count_results(results: Sequence[str]) -> LatestResults:
    return {"wins": results.count("win"), "draws": results.count("draw"), "losses": results.count("loss")}


def _first_move(machine: Machine) -> tuple[FirstMove, FirstBox | None, str]:
    """Return the machine's likeliest first move, the box for that move if there is a choice, and a phrase on the move.

    If the opponent begins, the opponent's opening is the move that the machine has met most often.
    """
    game, cabinet = machine.game_rules, machine.cabinet
    start = game.initial_position()
    opening_name, position = "", start
    if machine.side == Side.SECOND:
        boxes = machine.boxes.filter(move_number=1).values_list("position", "visits")
        n_met = {text: sum(visits) for text, visits in boxes}
        openings = [(move, game.apply(start, move)) for move in game.legal_moves(start)]
        keys = {move: game.encode(cabinet.box_position(position_after)) for move, position_after in openings}
        opening, position = max(openings, key=lambda reply: n_met.get(keys[reply[0]], 0))
        opening_name = game.presentation.describe_move(opening)
    explanation, printed = why_view(machine, game.encode(position)), cabinet.box_position(position)
    box: FirstBox | None = None
    if not explanation["forced"]:
        initial = cabinet.initial_beads(printed)
        slots: list[BeadLabel] = [
            {"colour": slot["colour"], "mark": slot["mark"], "name": slot["name"]}
            for slot in slots_view(cabinet, printed)
        ]
        beads_pair = machine.boxes.filter(position=explanation["box_position"]).values_list("start", "beads").first()
        before, now = beads_pair or (initial, initial)
        box = {"after": opening_name, "slots": slots, "before": before, "now": now}
    if explanation["resigns"]:
        return {"after": opening_name, "move": None, "chance": 1.0}, box, "gives up"
    by_slot: dict[Any, list[dict[str, Any]]] = {}
    for move in explanation["moves"]:
        by_slot.setdefault(move["slot"], []).append(move)
    chances = {slot: sum(move["probability"] for move in moves) for slot, moves in by_slot.items()}
    likeliest = max(chances, key=chances.__getitem__)
    first: FirstMove = {
        "after": opening_name,
        "move": by_slot[likeliest][0]["name"],
        "chance": min(chances[likeliest], 1.0),
    }
    return first, box, _move_phrase(by_slot[likeliest], list(chances.values()))


def _move_phrase(moves: Sequence[Mapping[str, Any]], chances: Sequence[float]) -> str:
    """Return a phrase on the first move, from the moves of the likeliest bead and the probabilities of all beads."""
    best, (name, mark) = max(chances), (moves[0]["name"], moves[0]["mark"])
    if mark is None or (best == 1 and len(moves) == 1):
        return f"always chooses {name}"
    if len(chances) > 1 and best - min(chances) < 1e-9:
        return "draws each kind of bead equally often"
    bead = f"bead {mark} ({'such as ' if len(moves) > 1 else ''}{name})"
    return f"always draws {bead}" if best == 1 else f"draws {bead} in {format_hundredths(best)} of 100 games"


def _curve(machine: Machine) -> Curve:
    """Return the strength by number of games played. Each point is computed once and then cached."""
    games_by_lesson, games_by_run = _lessons_of_curve(machine)
    keys = {number: f"strong:{machine.pk}:{machine.created_at.timestamp()}:{number}" for number in games_by_lesson}
    cached: dict[str, CurveStrength] = cache.get_many(list(keys.values()))
    uncached = [number for number, key in keys.items() if key not in cached]
    if uncached:
        computed = {keys[number]: value for number, value in _strength_after(machine, uncached).items()}
        cache.set_many(computed, STRENGTH_CACHE_S)
        cached |= computed
    within_runs = _strength_within_runs(machine, games_by_run)
    return sorted((within_runs | {games: cached[keys[number]] for number, games in games_by_lesson.items()}).items())


def _strength_within_runs(machine: Machine, games_by_run: Mapping[int, tuple[int, int]]) -> dict[int, CurveStrength]:
    """Return the strength by number of games played, as measured during training, at most ``MAX_CURVE_LESSONS`` points.

    Runs are left out unless the ledger still holds all of their lessons.
    """
    if not games_by_run:
        return {}
    runs = sorted(games_by_run, reverse=True)[:MAX_READ_RUNS]
    rows = CurvePoint.objects.filter(run__in=runs, run__machine=machine).order_by("run_id", "games_done")
    points = []
    for run, n_games, games, strength in rows.values_list("run_id", "run__games_done", "games_done", "strength"):
        n_before, n_in_ledger = games_by_run[run]
        if n_in_ledger == n_games:
            random, perfect = strength["random"], strength["perfect"]
            strong = CurveStrength(random["win"] + random["draw"] / 2, perfect["win"] + perfect["draw"])
            points.append((n_before + games, strong))
    return dict(points[:: -(-len(points) // MAX_CURVE_LESSONS) or 1])


def _lessons_of_curve(machine: Machine) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
    """Return the games played at each lesson of the curve, and the games of the training runs among the lessons.

    The first part maps lesson numbers to games. Another match changes few of these lessons, so most points are cached.
    The second part maps run ids to the games played before the run and the games that its lessons count.
    """
    lessons = machine.lessons.order_by("-number").values_list(
        "number", "stands_for", "run_id", "n_wins", "n_draws", "n_losses"
    )
    n_games, first_number, games_at = machine.n_games, machine.n_lessons, dict[int, int]()
    games_by_run: dict[int, tuple[int, int]] = {}
    for number, n_lessons, run, *tally in lessons[:MAX_READ_LESSONS]:
        last_number = number + n_lessons - 1
        if any(tally) and last_number >= machine.n_folded:  # compacted lessons may be incomplete
            games_at[last_number] = n_games
        first_number, n_games = number - 1, n_games - sum(tally)
        if run is not None:
            games_by_run[run] = n_games, games_by_run.get(run, (0, 0))[1] + sum(tally)
    if not n_games:
        games_at[first_number] = 0
    if not games_at:  # imported, or only lessons without a game: the curve is the present strength
        games_at[machine.n_lessons] = machine.n_games
    max_points = max(2, min(MAX_CURVE_LESSONS, MAX_READ_BOXES // max(1, machine.own_boxes.count())))
    step = 1
    while len(games_at) > max_points * step:
        step *= 2
    ends = (min(games_at), max(games_at)) if not n_games else (max(games_at),)
    curve_lessons = {
        number: n_played for number, n_played in sorted(games_at.items()) if number % step == 0 or number in ends
    }
    return curve_lessons, games_by_run


def _strength_after(machine: Machine, numbers: Sequence[int]) -> dict[int, CurveStrength]:
    """Return the strength after each of these lessons, by lesson number, with two queries."""
    present = table_load(machine)
    beads: dict[int, list[tuple[str, list[int]]]] = {number: [] for number in numbers}
    with connection.cursor() as cursor:
        cursor.execute(BEADS_AFTER_SQL, [list(numbers), machine.pk])
        for number, position, stored in cursor.fetchall():
            beads[number].append((position, stored))
    strengths = {}
    for number, stored in beads.items():
        memory = _memory_with(present, stored)
        perfect = against_opponent(memory, PERFECT)
        win, draw, _ = perfect.counted
        strengths[number] = CurveStrength(against_opponent(memory, RANDOM).score, win + draw)
    return strengths


def _memory_with(present: Memory, boxes: Sequence[tuple[str, list[int]]]) -> Memory:
    """Return a copy of the present memory with these (position, beads) in its boxes."""
    memory = present.copy()
    for position, beads in boxes:
        memory.beads[memory.slots(memory.table.box_id[position])] = beads
    memory.__post_init__()
    return memory


def _sentences(machine: Machine, results: Sequence[str], opening_name: str, move_phrase: str) -> str:
    n_games, n_latest = machine.n_games, len(results)
    texts = [
        f"It has played {n_games:,} game{'' if n_games == 1 else 's'}."
        if n_games
        else "It has not finished a game yet."
    ]
    if n_latest == 1:
        texts.append(
            {"win": "It won its last match.", "draw": "It drew its last match."}.get(
                results[0], "It lost its last match."
            )
        )
    elif n_latest:
        counts = _count_results(results)
        subject = "It" if n_latest == n_games else f"Of its last {n_latest} matches it"
        texts.append(f"{subject} won {counts['wins']}, drew {counts['draws']} and lost {counts['losses']}.")
    texts.append(
        f"If you begin with {opening_name}, it {move_phrase}." if opening_name else f"At the start it {move_phrase}."
    )
    return " ".join(texts)


def points_sentences(opponent_phrase: str, results: Sequence[str], curve: Curve) -> str:
    """Return sentences on the points against random play, with the reason if they have fallen.

    ``opponent_phrase`` names the opponent of the lost or won matches (" against you"), or is empty.
    """
    if not curve:
        return ""
    (games, start), (_, end) = curve[0], curve[-1]
    since = _comparison_with_start(start.points, end.points, games, curve)
    sentence = f"Against random play it would get {format_hundredths(end.points)} points in 100 games{since}"
    lost = f"It lost{opponent_phrase}, so it took out beads of moves that often beat random play."
    won = f"It learnt moves that work{opponent_phrase}, but less often against random play."
    return sentence + _fall_reason(start.points, end.points, results, lost=lost, won=won)


def no_loss_sentences(opponent_phrase: str, results: Sequence[str], curve: Curve) -> str:
    """Return sentences on the result against perfect play, with the reason if it has become worse.

    ``opponent_phrase`` names the opponent of the lost or won matches (" against you"), or is empty.
    """
    if not curve:
        return ""
    (games, start), (_, end) = curve[0], curve[-1]
    if not max(strength.holds for _, strength in curve):
        return "Against a perfect player it would lose every game."
    since = _comparison_with_start(start.holds, end.holds, games, curve)
    sentence = f"Against a perfect player it would avoid losing in {format_hundredths(end.holds)} of 100 games{since}"
    lost = f"It lost{opponent_phrase}, so it took out beads of moves that are safe against a perfect player."
    won = f"It won{opponent_phrase} with moves that a perfect player would punish."
    return sentence + _fall_reason(start.holds, end.holds, results, lost=lost, won=won)


def _comparison_with_start(start: float, end: float, games: int, curve: Curve) -> str:
    """Return the end of a sentence on a figure: a comparison with its value at the start of the curve.

    ``games`` is the number of games that the machine had played at the start of the curve.
    """
    if len(curve) < 2:
        return "."
    moment = f"after {games:,} game{'' if games == 1 else 's'}" if games else "before its first game"
    return (
        f", the same as {moment}."
        if format_hundredths(start) == format_hundredths(end)
        else f". It was {format_hundredths(start)} {moment}."
    )


def _fall_reason(start: float, end: float, results: Sequence[str], *, lost: str, won: str) -> str:
    """Return the likelier reason for a fallen figure, ``lost`` or ``won``; an empty text if it has not fallen."""
    if round(100 * end) >= round(100 * start):
        return ""
    return f" {lost if results.count('loss') > results.count('win') else won}"


def format_hundredths(share: float) -> str:
    """Return a share (0 to 1) in hundredths as text; only a share of exactly 0 or 1 becomes 0 or 100."""
    if 0 < share < 0.005:
        return "less than 1"
    if 0.995 <= share < 1:
        return "more than 99"
    return f"{100 * share:.0f}"
