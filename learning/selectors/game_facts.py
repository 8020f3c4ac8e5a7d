"""The recorded facts of a game in words, for its page and its JSON file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from beadbox.learners.facts import PROOFS, TESTS, Facts, SizeWinner, facts_of
from beadbox.learners.presets import ALL_PRESETS
from beadbox.rules.game import AnyGame
from beadbox.rules.published import Published
from beadbox.rules.registry import GAMES
from beadbox.strength.facts import SIDE_NAMES, FirstMoves, PerfectResult, RandomPlay

PLY_S = 5
"""Seconds for a move, in the estimate of a game's length."""
PROGRAM = "beadbox/learners/facts.py"
"""The program that computes the facts."""


def game_facts_json(game: AnyGame) -> dict[str, object]:
    """Return the recorded facts, and what a reader of the file needs to know about the game."""
    return {
        "game": game.slug,
        "name": game.full_name,
        "sides": dict(zip(SIDE_NAMES, game.look.layout.role_names, strict=True)),
        "positions_can_return": not game.always_ends,
        "ply_limit": game.ply_limit,
        "symmetries": len(game.symmetries),
        **facts_of(game),
        "published": [{**asdict(one), "ours": _our_number(game, one)} for one in game.published],
        "program": PROGRAM,
        "proofs": PROOFS,
    }


def game_facts_view(game: AnyGame) -> dict[str, object]:
    """Return the facts as rows of words: label, value, explanation, and the name of the test."""
    facts = facts_of(game)
    has_choice = not all(one["best"] for one in facts["first_moves"])
    return {
        "why_unlisted": facts["why_unlisted"],
        "result": facts["perfect_play"] and result_words(game, facts["perfect_play"]),
        "rows": [row for row in _rows(game, facts) if row["value"]],
        "first_moves": [
            {
                "words": moves_words(game, one["moves"]),
                "result": result_words(game, one),
                "best": one["best"] and has_choice,
            }
            for one in facts["first_moves"]
        ],
        "published": [_published(game, one) for one in game.published],
        "winners": _winners_table(game, facts_of(GAMES[game.family])["winners"]),
        "program": PROGRAM,
        "tests": TESTS,
    }


def _rows(game: AnyGame, facts: Facts) -> list[dict[str, str]]:
    def row(fact: str, label: str, value: str, note: str = "") -> dict[str, str]:
        return {"label": label, "value": value, "note": note, "proof": PROOFS[fact].partition("::")[2]}

    rows = []
    for fact, label, note in (
        ("positions", "Positions", "A board together with the side to move."),
        ("classes", "Positions that differ", "Boards that are turned or mirrored count once."),
    ):
        if count := facts[fact]:  # type: ignore[literal-required] # one of the two keys above
            rows.append(row(fact, label, f"{count['all']:,}; in {count['not_over']:,} the game goes on", note))
    for side, role in zip(SIDE_NAMES, game.look.layout.role_names, strict=True):
        if boxes := facts["boxes"].get(side):
            value = f"{boxes['boxes']:,} boxes with {boxes['beads']:,} beads"
            rule = ALL_PRESETS[boxes["preset"]].name
            rows.append(row("boxes", f"Machine for {role}", value, f"A new machine by the rule “{rule}”."))
    if facts["perfect_play"]:
        value = _sentence(result_words(game, facts["perfect_play"]))
        rows.append(row("perfect_play", "Perfect play", value, "Neither side makes a mistake."))
        rows.append(row("first_moves", "Best first moves", _best_words(game, facts)))
    random = facts["random_play"]
    value = f"{random['plies']:.1f} moves on average, {minutes_words(random)}"
    proof = "random_play" if random["sampled_games"] is None else "sampled_play"
    rows.append(row(proof, "Length of a game", value, _random_note(random)))
    if not game.always_ends:
        value = f"{100 * random['at_limit']:.2g} of 100 games"
        rows.append(row(proof, f"Not over after {game.ply_limit} moves", value, "Both players move at random."))
    return rows


def _random_note(random: RandomPlay) -> str:
    if random["sampled_games"] is None:
        return f"Both players move at random, and each move takes {PLY_S} seconds."
    return f"Measured in {random['sampled_games']} games of random moves, {PLY_S} seconds a move."


def result_words(game: AnyGame, result: PerfectResult | FirstMoves) -> str:
    """Describe the end of a game under perfect play."""
    if result["winner"] is None:
        return "a draw, because the game never ends" if result["endless"] else "a draw"
    role = game.look.layout.role_names[SIDE_NAMES.index(result["winner"])]
    if result["plies"] is None:
        return f"a win for {role}, because the game never ends"
    return f"a win for {role} in {result['plies']} move{'' if result['plies'] == 1 else 's'}"


def moves_words(game: AnyGame, moves: Sequence[str]) -> str:
    """Describe moves that are alike, as "top left, top right or centre"."""
    words = [game.look.describe_move(game.parse_move(text)) for text in moves]
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def minutes_words(random: RandomPlay) -> str:
    """Describe the length of a game at :data:`PLY_S` seconds a move."""
    minutes = game_minutes(random)
    return f"about {minutes} minute{'' if minutes == 1 else 's'}" if minutes else "under a minute"


def game_minutes(random: RandomPlay) -> int:
    """Return the length of a game in minutes; 0 if it is less than one."""
    seconds = random["plies"] * PLY_S
    return 0 if seconds < 60 else round(seconds / 60)


def _best_words(game: AnyGame, facts: Facts) -> str:
    best = [move for one in facts["first_moves"] if one["best"] for move in one["moves"]]
    if len(best) < sum(len(one["moves"]) for one in facts["first_moves"]):
        return moves_words(game, best)
    start = game.side_to_move(game.initial_position())
    assert facts["perfect_play"] is not None, "the first moves are known if perfect play is"
    has_lost = facts["perfect_play"]["winner"] == SIDE_NAMES[start.other]
    return "None, because every first move loses" if has_lost else "Every first move is as good"


def _published(game: AnyGame, one: Published) -> dict[str, Any]:
    ours = _our_number(game, one)
    same = "the same" if one.number == ours else "differs"
    return {
        "source": one.source,
        "number": one.number,
        "ours": ours,
        "rule": one.rule,
        "verdict": same if one.same_rule else "another way to count",
    }


def _our_number(game: AnyGame, one: Published) -> int:
    """Return the number in our facts that a published one is compared with."""
    found: Any = facts_of(game)
    for key in one.fact.split("."):
        found = found[key]
    assert isinstance(found, int), "a test looks up the number of each source"
    return found


def _winners_table(game: AnyGame, winners: Sequence[SizeWinner]) -> dict[str, Any] | None:
    """Return the winners as a table of rows by columns; ``None`` without winners."""
    if not winners:
        return None
    at = {(one["rows"], one["columns"]): one["winner"] for one in winners}
    roles = dict(zip(SIDE_NAMES, game.look.layout.role_names, strict=True))
    columns = range(1, max(one["columns"] for one in winners) + 1)
    return {
        "columns": list(columns),
        "rows": [
            (rows, [roles.get(at.get((rows, column), ""), "") for column in columns])
            for rows in sorted({one["rows"] for one in winners})
        ],
    }


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
