"""The rule of a value learner in words: every field of the editor, and the rule of a given machine."""

from __future__ import annotations

from beadbox.learners.value_learner.rule import ValueRule
from learning.kinds.page import KindText, RuleGroup, Words, format_percent

WORDS: dict[str, Words] = {
    "features": Words(
        "Features of a board",
        "With more features it has more to learn, and plays better in the end.",
        {
            "full-1": "pieces and places, moves, attacks, hanging pieces, and the distance to the goals",
            "squares-1": "only the place of each piece",
        },
    ),
    "value_rate": Words(
        "Speed of learning at first",
        "How far the value of a board moves towards its target. At 0.1 it moves a tenth of the way.",
    ),
    "value_rate_floor": Words("Slowest speed of learning", "The speed falls towards this as it learns."),
    "value_half_life": Words("Games until halfway there", "After this many games, the speed has fallen halfway."),
    "trace": Words(
        "Weight of the end of the game",
        "At 0 a board learns only from the next search. At 1 it learns only from the result of the game.",
    ),
    "trace_cut": Words(
        "Random moves end the trace",
        "A result then counts back only to the last move that was random.",
    ),
    "value_discount": Words("Worth of later results", "Below 1, an early win is worth more than a late win."),
    "search_depth": Words("Moves it looks ahead while it learns", "It learns from the result of this search."),
    "random_opening": Words(
        "Random moves at the start of a game",
        "The largest number of random moves. They show it many kinds of boards, and it does not learn them.",
    ),
    "random_share": Words("Chance of a random move", "The share of random moves while it learns: 0.03 is 3 in 100."),
    "soft_share": Words(
        "Chance of a promising move",
        "The share of moves that it draws by their value one move ahead. Better moves are more likely.",
    ),
    "temperature": Words(
        "Temperature of these draws",
        "With a low number it mostly plays the best move. With a high number it tries more.",
    ),
    "play_depth": Words(
        "Moves it looks ahead when it plays", "Against people, in tournaments and when it is measured."
    ),
    "average_games": Words(
        "Games in the mean it plays by",
        "A mean is steadier than the latest weights. At 0 it plays by the latest weights.",
    ),
    "restlessness": Words(
        "Cost of going back when it plays",
        "Each earlier visit of such a piece costs this much. So it makes progress in games that it would not win.",
    ),
}

GROUPS = (
    RuleGroup(
        "Features",
        ("features",),
        "The value of a board, for the side that has just moved, is s / √(1 + s²). "
        "Here s = w · φ, with a weight for each feature.",
    ),
    RuleGroup(
        "Learning from a game",
        (
            *("value_rate", "value_rate_floor", "value_half_life"),
            *("trace", "trace_cut", "value_discount", "search_depth"),
        ),
        "TD(λ) with search in the loop (Sutton, 1988; Veness and others, 2009). After a game, each of its boards "
        "changes the weights: w += α / |φ|² · (target − value) · φ. The target is −value_discount · ((1 − trace) · S + "
        "trace · T). S is the search result on the next board. T is the target of the next board, or the result. "
        "α = value_rate_floor + (value_rate − value_rate_floor) / (1 + games / value_half_life).",
    ),
    RuleGroup("Trying something new", ("random_opening", "random_share", "soft_share", "temperature")),
    RuleGroup("How it plays", ("play_depth", "average_games", "restlessness")),
)

TEXT = KindText(
    words=WORDS,
    groups=GROUPS,
    noun="weights",
    why="values",
    admin_list=("weights", "machine__id__exact"),
)


def sentences(rule: ValueRule) -> list[tuple[str, str]]:
    """Return (label, sentences) for each part of the rule that has an effect."""
    features = WORDS["features"].choices or {}
    ahead, rates = _moves(rule.search_depth), (rule.value_rate, rule.value_rate_floor)
    moves = "At first a value moves {:g} of the way to its target, and later {:g}.".format(*rates)
    labelled = [
        ("Sees", f"It sees {features.get(rule.features, rule.features)}."),
        ("Plays", f"It plays the move that looks best {_moves(rule.play_depth)} ahead."),
        ("Learns", f"{moves} To learn it looks {ahead} ahead."),
    ]
    random_shares = (("at random", rule.random_share), ("among those that look good", rule.soft_share))
    if explanations := [
        f"It chooses {format_percent(share)} of its moves {move_kind}." for move_kind, share in random_shares if share
    ]:
        labelled.append(("Explores", " ".join(explanations)))
    if rule.average_games:
        labelled.append(("Steady", f"It plays by the mean of its weights over {rule.average_games:,g} games."))
    if rule.restlessness:
        labelled.append(("Restless", f"Each way back to a place costs {rule.restlessness:g}."))
    return labelled


def _moves(n: int) -> str:
    return "one move" if n == 1 else f"{n} moves"
