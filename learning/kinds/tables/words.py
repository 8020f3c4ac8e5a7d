"""The rule of a machine with a table of values in words: every field of the editor, and the rule of one that is there.

Sections are those of R. Sutton and A. Barto, "Reinforcement Learning: An Introduction", second edition (2018).
"""

from __future__ import annotations

from learning.core.machines.table_rule import Method, TableRule
from learning.kinds.base import RuleGroup, Words, percent

WORDS: dict[str, Words] = {
    "method": Words(
        "What it learns",
        "What has a value, and which way a value moves when something has been played after it.",
        {
            Method.TD_LAMBDA: "boards after its move: towards the boards that came next (TD(λ))",
            Method.Q_LEARNING: "moves: towards the best that it could have played next (Q-learning)",
            Method.SARSA: "moves: towards what it did play next (Sarsa)",
            Method.MONTE_CARLO: "moves: towards how the game ended (Monte Carlo)",
        },
    ),
    "step_size": Words(
        "How far a value moves",
        "The part of the way that a value moves each time: 0.1 is a tenth of the way, 1 is all of it.",
    ),
    "step_by_visits": Words(
        "Less far each time", "All of the way at first, then half, a third …: a value is the mean of all it was shown."
    ),
    "trace_decay": Words(
        "How much it waits for the end",
        "At 0 a board learns from the next one alone, at 1 from the end of the game alone. For TD(λ); else 0.",
    ),
    "later_discount": Words(
        "What later is worth", "How much of a value counts one move earlier: below 1 it likes to win soon."
    ),
    "exploring": Words(
        "How often it plays anything at first",
        "The chance, while it learns, that it plays any move to see what comes of it: 0.1 is one move in ten.",
    ),
    "exploring_decay": Words(
        "What each game leaves of that", "After each game the chance is multiplied by this; at 1 it stays as it is."
    ),
    "exploring_floor": Words("But never less often", "The chance never falls below this."),
    "win_reward": Words("What a win is worth", "The end of a game brings this if it won."),
    "draw_reward": Words("What a draw is worth", "The same, when nobody won."),
    "loss_reward": Words("What a loss is worth", "The same, when it lost."),
    "start_value": Words(
        "What it expects at first",
        "Every value before it has learnt anything. High, and it tries everything, for all else disappoints it.",
    ),
}

GROUPS = (
    RuleGroup(
        "What it learns, and how fast",
        ("method", "step_size", "step_by_visits", "trace_decay", "later_discount"),
        "Sutton and Barto, second edition: V += step_size · (G − V), from the last of its moves to the first. G of the "
        "last is the reward, before it G = later_discount · ((1 − λ) · M + λ · G of the next), M what the next one is "
        "worth. λ is trace_decay (6.8, 12.1); 0 for Sarsa (6.4) and Q-learning, whose M is the greatest there (6.5); "
        "1 for Monte Carlo (5.4). With step_by_visits step_size is 1/n at the n-th visit (2.4).",
    ),
    RuleGroup("What an end is worth", ("win_reward", "draw_reward", "loss_reward", "start_value")),
    RuleGroup(
        "Playing anything now and then",
        ("exploring", "exploring_decay", "exploring_floor"),
        "ε-greedy (2.2): while it learns it plays any legal move with probability ε, else one of those of the greatest "
        "value, each as likely. ε begins as exploring, and a game makes it max(exploring_floor, exploring_decay · ε).",
    ),
)

_FOLLOWS = {
    Method.TD_LAMBDA: "towards the boards that came next",
    Method.Q_LEARNING: "towards the best that it could have played next",
    Method.SARSA: "towards what it played next",
    Method.MONTE_CARLO: "towards how the game ended",
}


def sentences(rule: TableRule) -> list[tuple[str, str]]:
    """The rule, field by field that matters, as (label, sentence)."""
    keeps = "board after its move" if rule.of_boards else "move on a board"
    step = "the mean of what it was shown" if rule.step_by_visits else f"{rule.step_size:g} of the way each time"
    ends = f"{_signed(rule.win_reward)}, {_signed(rule.draw_reward)}, {_signed(rule.loss_reward)}"
    found = [
        ("Keeps", f"a value for every {keeps}; boards that are the same when turned or mirrored share it"),
        ("Plays", "the greatest value, any of those that are equal"),
        ("Learns", f"each value moves {_FOLLOWS[rule.method]}: {step}"),
        ("Win, draw, loss", f"{ends}; at first every value is {_signed(rule.start_value)}"),
        ("Tries anything", _tries(rule)),
    ]
    if rule.trace_decay:
        found.insert(3, ("Waits for the end", f"{rule.trace_decay:g} of what it is shown comes from later in the game"))
    if rule.later_discount < 1:
        found.insert(3, ("Hurries", f"one move later a value counts {rule.later_discount:g} of itself"))
    return found


def _tries(rule: TableRule) -> str:
    if not rule.exploring:
        return "never"
    if rule.exploring_decay == 1 or rule.exploring_floor == rule.exploring:
        return f"in {percent(rule.exploring)} of its moves, while it learns"
    fades = f"times {rule.exploring_decay:g} after each game"
    return f"in {percent(rule.exploring)} of its moves at first, {fades}, but {percent(rule.exploring_floor)} at least"


def _signed(number: float) -> str:
    return "0" if number == 0 else f"{number:+g}".replace("-", "−")
