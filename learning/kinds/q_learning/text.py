"""The rule of a Q-learner in words: every field of the editor, and the rule of a given machine."""

from __future__ import annotations

from decimal import Decimal

from beadbox.learners.q_learning.rule import QRule
from learning.kinds.page import KindText, RuleGroup, Words

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

TEXT = KindText(
    words=WORDS,
    groups=GROUPS,
    noun="values",
    why="values",
    admin_list=("value", "machine"),
)


def sentences(rule: QRule) -> list[tuple[str, str]]:
    """Return (label, sentences) for each part of the rule that has an effect."""
    next_value = f", and {_digits(rule.discount)} of the best value at its next turn" if rule.discount else ""
    sign = "" if rule.step_reward < 0 else "+"
    earlier = f" Each move before brings {sign}{_digits(rule.step_reward)}." if rule.step_reward else ""
    plays = "It adds the value of a move and a hundredth of the engine’s score after it."
    learns = f"Each value moves {_digits(rule.learning_rate)} of the way to its target."
    return [
        ("Keeps", "It keeps a value for every move that it has tried on a board. Every other move counts 0."),
        ("Plays", f"{plays} It plays the move with the greatest sum."),
        *_tries(rule),
        *_checks(rule),
        ("Win, draw, loss", f"Its last move brings +1 for a win, 0 for a draw and −1 for a loss.{earlier}"),
        ("Learns", f"{learns} The target is what the move brings{next_value}."),
    ]


def _tries(rule: QRule) -> list[tuple[str, str]]:
    if not rule.epsilon:
        return []
    chance = f"It plays a random move with a chance of {_digits(rule.epsilon)}"
    if rule.epsilon_decay == 1 or rule.epsilon_floor >= rule.epsilon:
        return [("Explores", f"{chance}.")]
    floor = f" It never falls below {_digits(rule.epsilon_floor)}." if rule.epsilon_floor else ""
    return [
        ("Explores", f"{chance} at first. Each game multiplies the chance by {_digits(rule.epsilon_decay)}.{floor}")
    ]


def _checks(rule: QRule) -> list[tuple[str, str]]:
    wins, loses = "It takes a win at hand.", "It avoids moves that lose at once by repetition."
    checks = [words for words, is_on in ((wins, rule.take_wins), (loses, rule.avoid_repetition)) if is_on]
    return [("Checks", " ".join(checks))] if checks else []


def _digits(number: float) -> str:
    """Return the number with all digits and no exponent: 1, −0.01, 0.99999999."""
    return f"{Decimal(str(number + 0)).normalize():f}".replace("-", "−")
