"""The rule of a machine that keeps values in words: every field of the editor, and the rule of one that is there."""

from __future__ import annotations

from decimal import Decimal

from learning.core.machines.q_learning import QRule
from learning.kinds.base import RuleGroup, Words

WORDS: dict[str, Words] = {
    "learning_rate": Words(
        "Speed of learning",
        "How far a value moves towards the result of a game. At 0.1 it moves a tenth of the way.",
    ),
    "discount": Words(
        "Weight of the next move",
        "The share of the best next value that counts for a move. At 0 only the move itself counts.",
    ),
    "step_reward": Words(
        "Reward of every move before the last",
        "The last move of a game brings 1 for a win, 0 for a draw and −1 for a loss. Each earlier move brings this. "
        "With a negative number the machine learns to win quickly.",
    ),
    "epsilon": Words(
        "Chance of a random move at first",
        "The chance that it tries a random move: 0.2 is one move in five.",
    ),
    "epsilon_decay": Words(
        "Change of this chance after a game", "Each game multiplies the chance by this. At 1 it stays the same."
    ),
    "take_wins": Words(
        "Take a win at hand", "If a move wins at once, it plays that move, even if it has not tried it before."
    ),
    "avoid_repetition": Words(
        "Avoid losing by repetition",
        "The same board for the third time loses the game. It avoids such a move while there is another.",
    ),
    "epsilon_floor": Words(
        "Smallest chance of a random move", "The chance never falls below this, so it never stops trying."
    ),
}

GROUPS = (
    RuleGroup(
        "Changes after a game",
        ("learning_rate", "discount", "step_reward"),
        "Q-learning (Watkins, 1989). After a game, each of its moves changes in order of play: "
        "Q\N{NO-BREAK SPACE}+=\N{NO-BREAK SPACE}learning_rate · (r + discount · M − Q). Q is the value of the move. "
        "M is the greatest value at its next turn. r is step_reward. For its last move, M is 0 and r is 1, 0 or −1.",
    ),
    RuleGroup(
        "Trying something new",
        ("epsilon", "epsilon_decay", "epsilon_floor"),
        "With probability ε it plays a random legal move. Otherwise it plays the move with the greatest Q + E/100. "
        "E is the engine’s score of the board after the move. ε starts as epsilon. Each game that it learns from "
        "changes ε to max(epsilon_floor, epsilon_decay · ε).",
    ),
    RuleGroup(
        "Checks before it plays",
        ("take_wins", "avoid_repetition"),
        "With take_wins it chooses among the moves that win at once, if there are any. With avoid_repetition it leaves "
        "out moves that lose at once by repetition, if it can. Among the rest it chooses by ε and Q + E/100. "
        "Learning does not use these checks.",
    ),
)


def sentences(rule: QRule) -> list[tuple[str, str]]:
    """The rule, field by field that matters, as (label, sentence)."""
    ahead = f" and {_digits(rule.discount)} of the best that it could play next" if rule.discount else ""
    sign = "" if rule.step_reward < 0 else "+"
    earlier = f"; {sign}{_digits(rule.step_reward)} for each move before" if rule.step_reward else ""
    return [
        ("Keeps", "a value for every move it has tried on a board; every other move counts 0"),
        ("Plays", "the greatest sum of the value and a hundredth of the engine’s score after the move"),
        *_tries(rule),
        *_checks(rule),
        ("Win, draw, loss", f"+1, 0, −1 for its last move{earlier}"),
        ("Learns", f"each value moves {_digits(rule.learning_rate)} of the way to that{ahead}"),
    ]


def _tries(rule: QRule) -> list[tuple[str, str]]:
    if not rule.epsilon:
        return []
    told = f"a random move with a chance of {_digits(rule.epsilon)}"
    if rule.epsilon_decay < 1 and rule.epsilon_floor < rule.epsilon:
        floor = f", but never below {_digits(rule.epsilon_floor)}" if rule.epsilon_floor else ""
        told += f" at first, times {_digits(rule.epsilon_decay)} after each game{floor}"
    return [("Explores", told)]


def _checks(rule: QRule) -> list[tuple[str, str]]:
    wins, loses = "takes a win at hand", "avoids moves that lose at once by repetition"
    does = [words for words, is_on in ((wins, rule.take_wins), (loses, rule.avoid_repetition)) if is_on]
    return [("Checks", f"it {' and '.join(does)}")] if does else []


def _digits(number: float) -> str:
    """The number with all of its digits and no exponent: 1, −0.01, 0.99999999."""
    return f"{Decimal(str(number + 0)).normalize():f}".replace("-", "−")
