"""The rule of a machine that learns a value of positions in words: every field of the editor, and a rule as it is."""

from __future__ import annotations

from learning.core.machines.value_rule import ValueRule
from learning.kinds.base import RuleGroup, Words, percent

WORDS: dict[str, Words] = {
    "features": Words(
        "What it sees on a board",
        "The more it sees, the more it has to learn, and the better it plays in the end.",
        {
            "full-1": "pieces and places, moves, attacks, what hangs, and how far the goals are",
            "squares-1": "which piece stands where, and nothing else",
        },
    ),
    "value_rate": Words(
        "Speed of learning at first",
        "How far the value of a board moves towards what it is taught: 0.1 is a tenth of the way, 1 is all of it.",
    ),
    "value_rate_floor": Words("But never slower than", "What its first rate falls towards, the more it has learnt."),
    "value_half_life": Words("Half the way there after", "So many games: then its rate has fallen half the way."),
    "trace": Words(
        "How far back a result is felt",
        "At 0 a board is taught what the next search finds alone, at 1 how the game ended; between them, both.",
    ),
    "trace_cut": Words(
        "A move that was only tried says nothing of those before",
        "Then a result is felt back to the last move that was not what it thought best.",
    ),
    "value_discount": Words(
        "What a move's delay leaves of a result", "Below 1, a win soon is worth more than one that takes long."
    ),
    "search_depth": Words("Moves it looks ahead while it learns", "What it finds there is what it is taught."),
    "random_opening": Words(
        "Random moves at the start of a game", "Up to so many, so that it meets boards of every kind. None is learnt."
    ),
    "random_share": Words(
        "How often it tries anything", "The share of its moves that may be any, while it learns: 0.03 is 3 in 100."
    ),
    "soft_share": Words(
        "How often it tries what looks good",
        "The share of its moves that are drawn by how they look one move ahead, the better the likelier.",
    ),
    "temperature": Words(
        "How freely it draws those", "The lower, the more it keeps to what looks best; the higher, the more is tried."
    ),
    "play_depth": Words(
        "Moves it looks ahead when it plays", "Against people, in tournaments and when it is measured."
    ),
    "average_games": Words(
        "Plays by its mean over so many games", "Steadier than what the last game left. At 0 it plays by the last."
    ),
    "restlessness": Words(
        "What going back costs when it plays",
        "For each time that a piece of the kind has gone there before: it wins games in which it would stand still.",
    ),
}

GROUPS = (
    RuleGroup(
        "What it sees",
        ("features",),
        "The value of a board, for whoever has just moved, is s / √(1 + s²), s = w · φ: a weight for every feature.",
    ),
    RuleGroup(
        "What a game teaches",
        (
            *("value_rate", "value_rate_floor", "value_half_life"),
            *("trace", "trace_cut", "value_discount", "search_depth"),
        ),
        "TD(λ) with search in the loop (Sutton, 1988; Veness and others, 2009). After a game, for each of its boards "
        "in order of play, w += α / |φ|² · (target − value) · φ. The target is −value_discount · ((1 − trace) · S + "
        "trace · T): S is what the search found on the next board, T its own target, or the result. "
        "α = value_rate_floor + (value_rate − value_rate_floor) / (1 + games / value_half_life).",
    ),
    RuleGroup("Trying something new", ("random_opening", "random_share", "soft_share", "temperature")),
    RuleGroup("How it plays", ("play_depth", "average_games", "restlessness")),
)


def sentences(rule: ValueRule) -> list[tuple[str, str]]:
    """The rule, field by field that matters, as (label, sentence)."""
    seen = WORDS["features"].choices or {}
    ahead = _moves(rule.search_depth)
    found = [
        ("Sees", seen.get(rule.features, rule.features)),
        ("Plays", f"what looks best {_moves(rule.play_depth)} ahead"),
        (
            "Learns",
            f"{rule.value_rate:g} of what a game shows, {rule.value_rate_floor:g} in the end; it looks {ahead} ahead",
        ),
        (
            "Tries",
            f"anything in {percent(rule.random_share)} of its moves, what looks good in {percent(rule.soft_share)}",
        ),
    ]
    if rule.average_games:
        found.append(("Steady", f"it plays by the mean of what it knew over {rule.average_games:,g} games"))
    if rule.restlessness:
        found.append(("Restless", f"going where such a piece has been costs {rule.restlessness:g}"))
    return found


def _moves(n: int) -> str:
    return "one move" if n == 1 else f"{n} moves"
