"""The rule of a table learner in words: every field of the editor, and the rule of a given machine.

Sections are those of R. Sutton and A. Barto, "Reinforcement Learning: An Introduction", second edition (2018).
"""

from __future__ import annotations

from beadbox.learners.table_learner.rule import Method, TableRule
from learning.kinds.page import KindText, RuleGroup, Words, format_percent

WORDS: dict[str, Words] = {
    "method": Words(
        "Method",
        "The things that have a value, and the direction in which each value moves.",
        {
            Method.TD_LAMBDA: "boards after its move: towards the boards that came next (TD(λ))",
            Method.Q_LEARNING: "moves: towards the best move it could have played next (Q-learning)",
            Method.SARSA: "moves: towards the move it played next (Sarsa)",
            Method.MONTE_CARLO: "moves: towards how the game ended (Monte Carlo)",
        },
    ),
    "step_size": Words(
        "Step size",
        "How far a value moves each time: 0.1 is a tenth of the way, 1 is the whole way.",
    ),
    "step_by_visits": Words(
        "Smaller steps each time",
        "The whole way at first, then half, then a third. A value is then the mean of all results.",
    ),
    "trace_decay": Words(
        "Weight of the end of the game",
        "At 0 a board learns only from the next board. At 1 it learns only from the result. Only for TD(λ).",
    ),
    "later_discount": Words(
        "Worth of later results", "The share of a value that counts one move earlier. Below 1, it prefers to win soon."
    ),
    "exploring": Words(
        "Chance of a random move at first",
        "The chance of a random move while it learns: 0.1 is one move in ten.",
    ),
    "exploring_decay": Words(
        "Change of this chance after a game", "Each game multiplies the chance by this. At 1 it stays the same."
    ),
    "exploring_floor": Words("Smallest chance of a random move", "The chance never falls below this."),
    "win_reward": Words("Reward of a win", "A won game brings this."),
    "draw_reward": Words("Reward of a draw", "A drawn game brings this."),
    "loss_reward": Words("Reward of a loss", "A lost game brings this."),
    "start_value": Words(
        "Value at the start",
        "Every value before it has learnt anything. With a high value it tries every move.",
    ),
}

GROUPS = (
    RuleGroup(
        "Method and speed",
        ("method", "step_size", "step_by_visits", "trace_decay", "later_discount"),
        "Sutton and Barto, second edition: V += step_size · (G − V). Q-learning and Sarsa do this after every move. "
        "TD(λ) and Monte Carlo do it after the game, from the last move to the first. Their games have no board that "
        "returns. For the last move, G is the reward. For earlier moves, G = later_discount · ((1 − λ) · M + λ "
        "· G of the next). M is the value of the next one. λ is trace_decay (6.8, 12.1). For Sarsa (6.4) and "
        "Q-learning (6.5) λ is 0. For Q-learning M is the greatest value. For Monte Carlo (5.4) λ is 1. With "
        "step_by_visits, step_size is 1/n at the n-th visit (2.4).",
    ),
    RuleGroup("Rewards", ("win_reward", "draw_reward", "loss_reward", "start_value")),
    RuleGroup(
        "Random moves",
        ("exploring", "exploring_decay", "exploring_floor"),
        "ε-greedy (2.2): while it learns, it plays a random legal move with probability ε. Otherwise it plays a move "
        "with the greatest value. ε starts as exploring. Each game changes ε to "
        "max(exploring_floor, exploring_decay · ε).",
    ),
)

_FOLLOWS = {
    Method.TD_LAMBDA: "towards the boards that came next",
    Method.Q_LEARNING: "towards the best move it could have played next",
    Method.SARSA: "towards the move it played next",
    Method.MONTE_CARLO: "towards how the game ended",
}

TEXT = KindText(
    words=WORDS,
    groups=GROUPS,
    noun="values",
    why="values",
    admin_list=("value", "machine"),
)


def sentences(rule: TableRule) -> list[tuple[str, str]]:
    """Return (label, sentences) for each part of the rule that has an effect."""
    key_name = "board after its move" if rule.of_boards else "move on a board"
    target = "It is the mean of all results." if rule.step_by_visits else f"It moves {rule.step_size:g} of the way."
    win, draw, loss = (_signed(reward) for reward in (rule.win_reward, rule.draw_reward, rule.loss_reward))
    labelled = [
        (
            "Keeps",
            f"It keeps a value for every {key_name}. Boards that are the same when turned or mirrored share a value.",
        ),
        ("Plays", "It plays the move with the greatest value. If several are equal, it plays one of them."),
        ("Learns", f"Each value moves {_FOLLOWS[rule.method]}. {target}"),
        (
            "Win, draw, loss",
            f"A win counts {win}, a draw {draw} and a loss {loss}. At first each value is {_signed(rule.start_value)}.",
        ),
    ]
    if rule.exploring:
        labelled.append(("Explores", _tries(rule)))
    if rule.trace_decay:
        share = f"{rule.trace_decay:g} of what it learns comes from later in the game."
        labelled.insert(3, ("Waits for the end", f"A share of {share}"))
    if rule.later_discount < 1:
        labelled.insert(3, ("Hurries", f"A value counts {rule.later_discount:g} of itself one move earlier."))
    return labelled


def _tries(rule: TableRule) -> str:
    if rule.exploring_decay == 1 or rule.exploring_floor == rule.exploring:
        return f"While it learns, {format_percent(rule.exploring)} of its moves are random."
    fades = f"Each game multiplies this share by {rule.exploring_decay:g}."
    floor = f" It never falls below {format_percent(rule.exploring_floor)}." if rule.exploring_floor else ""
    return f"At first {format_percent(rule.exploring)} of its moves are random while it learns. {fades}{floor}"


def _signed(number: float) -> str:
    return "0" if number == 0 else f"{number:+g}".replace("-", "−")
