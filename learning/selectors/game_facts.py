"""The recorded facts of a game (``beadbox.learners.facts``) in words, for its page and its JSON file."""

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
"""Path of the program that computes the facts, as pages name it."""


def game_facts_json(game: AnyGame) -> dict[str, object]:
    """Return the content of the JSON file: the recorded facts, with the game's names, limits and published numbers."""
    return {
        "game": game.slug,
        "name": game.full_name,
        "sides": dict(zip(SIDE_NAMES, game.presentation.layout.role_names, strict=True)),
        "positions_can_return": not game.always_ends,
        "ply_limit": game.ply_limit,
        "symmetries": len(game.symmetries),
        **facts_of(game),
        "published": [{**asdict(published), "ours": _our_number(game, published)} for published in game.published],
        "program": PROGRAM,
        "proofs": PROOFS,
    }


def game_facts_view(game: AnyGame) -> dict[str, object]:
    """Return the facts as the page shows them: rows of label, value, explanation and test, and tables."""
    facts = facts_of(game)
    has_choice = not all(item["best"] for item in facts["first_moves"])
    return {
        "why_unlisted": facts["why_unlisted"],
        "result": facts["perfect_play"] and result_words(game, facts["perfect_play"]),
        "rows": [row for row in _rows(game, facts) if row["value"]],
        "first_moves": [
            {
                "words": moves_words(game, item["moves"]),
                "result": result_words(game, item),
                "best": item["best"] and has_choice,
            }
            for item in facts["first_moves"]
        ],
        "published": [_published(game, item) for item in game.published],
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
    for side, role in zip(SIDE_NAMES, game.presentation.layout.role_names, strict=True):
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
    """Describe the result of a game under perfect play, as "a draw"."""
    if result["winner"] is None:
        return "a draw, because the game never ends" if result["endless"] else "a draw"
    role = game.presentation.layout.role_names[SIDE_NAMES.index(result["winner"])]
    if result["plies"] is None:
        return f"a win for {role}, because the game never ends"
    return f"a win for {role} in {result['plies']} move{'' if result['plies'] == 1 else 's'}"


def moves_words(game: AnyGame, moves: Sequence[str]) -> str:
    """Describe a list of moves, as "top left, top right or centre"."""
    words = [game.presentation.describe_move(game.parse_move(text)) for text in moves]
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def minutes_words(random: RandomPlay) -> str:
    """Describe the mean length of a game, as "about 2 minutes"."""
    minutes = game_minutes(random)
    return f"about {minutes} minute{'' if minutes == 1 else 's'}" if minutes else "under a minute"


def game_minutes(random: RandomPlay) -> int:
    """Return the mean length of a game in minutes, at :data:`PLY_S` seconds a move; 0 if it is under a minute."""
    seconds = random["plies"] * PLY_S
    return 0 if seconds < 60 else round(seconds / 60)


def _best_words(game: AnyGame, facts: Facts) -> str:
    best = [move for group in facts["first_moves"] if group["best"] for move in group["moves"]]
    if len(best) < sum(len(group["moves"]) for group in facts["first_moves"]):
        return moves_words(game, best)
    start = game.side_to_move(game.initial_position())
    assert facts["perfect_play"] is not None, "the first moves are known if perfect play is"
    has_lost = facts["perfect_play"]["winner"] == SIDE_NAMES[start.other]
    return "None, because every first move loses" if has_lost else "Every first move is as good"


def _published(game: AnyGame, published: Published) -> dict[str, Any]:
    our_number = _our_number(game, published)
    agreement = "the same" if published.number == our_number else "differs"
    return {
        "source": published.source,
        "number": published.number,
        "ours": our_number,
        "rule": published.rule,
        "verdict": agreement if published.same_rule else "another way to count",
    }


def _our_number(game: AnyGame, published: Published) -> int:
    """Return the number in the recorded facts with which a published number is compared."""
    value: Any = facts_of(game)
    for key in published.fact.split("."):
        value = value[key]
    assert isinstance(value, int), "a test looks up the number of each source"
    return value


def _winners_table(game: AnyGame, winners: Sequence[SizeWinner]) -> dict[str, Any] | None:
    """Return the winners by board size as a table of rows by columns; ``None`` without winners."""
    if not winners:
        return None
    winner_of_size = {(entry["rows"], entry["columns"]): entry["winner"] for entry in winners}
    roles = dict(zip(SIDE_NAMES, game.presentation.layout.role_names, strict=True))
    columns = range(1, max(entry["columns"] for entry in winners) + 1)
    return {
        "columns": list(columns),
        "rows": [
            (rows, [roles.get(winner_of_size.get((rows, column), ""), "") for column in columns])
            for rows in sorted({entry["rows"] for entry in winners})
        ],
    }


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
