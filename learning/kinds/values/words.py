"""The rule of a machine that keeps values in words: every field of the editor, and the rule of one that is there."""

from __future__ import annotations

from decimal import Decimal

from learning.core.machines.q_learning import QRule
from learning.kinds.base import RuleGroup, Words

WORDS: dict[str, Words] = {
    "learning_rate": Words(
        "How fast it learns",
        "How far a value moves towards what a game has shown: 0.1 is a tenth of the way, 1 is all of it.",
    ),
    "discount": Words(
        "How far it looks ahead",
        "How much of the best value that it could play next counts for a move: at 0 only what the move itself brings.",
    ),
    "step_reward": Words(
        "For every move before the last",
        "The last move of a game brings 1 for a win, 0 for a draw, −1 for a loss; each move before it brings this. "
        "With a minus it learns to hurry.",
    ),
    "epsilon": Words(
        "How often it tries anything at first",
        "The chance that it plays any move, good or bad, to see what comes of it: 0.2 is one move in five.",
    ),
    "epsilon_decay": Words(
        "What a game leaves of that", "After each game the chance is multiplied by this; at 1 it stays as it is."
    ),
    "take_wins": Words(
        "Take a win at hand", "It plays a move that wins at once wherever it sees one, tried before or not."
    ),
    "avoid_repetition": Words(
        "Never repeat itself into a loss",
        "Who brings the same board about for the third time loses: it plays no such move as long as there is another.",
    ),
    "epsilon_floor": Words("But never less often than", "The chance never falls below this, so it never stops trying."),
}

GROUPS = (
    RuleGroup(
        "What a game changes",
        ("learning_rate", "discount", "step_reward"),
        "Q-learning (Watkins, 1989). After a game, for each of its moves in order of play, "
        "Q\N{NO-BREAK SPACE}+=\N{NO-BREAK SPACE}learning_rate · (r + discount · M − Q): Q is the value of "
        "the move, M the greatest value of all that it could have played at its next turn. r is step_reward; for "
        "its last move M is 0 and r is 1, 0 or −1.",
    ),
    RuleGroup(
        "Trying something new",
        ("epsilon", "epsilon_decay", "epsilon_floor"),
        "With probability ε it plays any legal move, each equally likely; else the one of the greatest Q + E/100, "
        "where E is what the engine makes of the board after it. ε begins as epsilon, and a game that it learns "
        "from makes it max(epsilon_floor, epsilon_decay · ε).",
    ),
    RuleGroup(
        "What it checks before it plays",
        ("take_wins", "avoid_repetition"),
        "With take_wins it chooses among the moves that win at once wherever there are any, and with avoid_repetition "
        "else among those that do not lose at once by the third occurrence or the shuttle rule: by ε and Q + E/100 "
        "as above. What a game changes does not ask for them.",
    ),
)


def sentences(rule: QRule) -> list[tuple[str, str]]:
    """The rule, field by field that matters, as (label, sentence)."""
    tries = f"a chance of {_digits(rule.epsilon)} at first, times {_digits(rule.epsilon_decay)} after each game"
    ahead = f"{_digits(rule.discount)} of the best that it could play next"
    each = "" if rule.step_reward < 0 else "+"
    return [
        ("Keeps", "a value for every move it has tried on a board; all others count 0"),
        ("Plays", "the greatest value plus a hundredth of what the engine makes of the board after the move"),
        ("Tries anything", f"with {tries}, but {_digits(rule.epsilon_floor)} at least"),
        ("Checks", _checks(rule)),
        ("Win, draw, loss", f"+1, 0, −1 for its last move; {each}{_digits(rule.step_reward)} for each move before"),
        ("Learns", f"each value moves {_digits(rule.learning_rate)} of the way to that and {ahead}"),
    ]


def _checks(rule: QRule) -> str:
    wins, loses = "takes a win at hand", "plays no move that loses at once by repetition if there is another"
    does = [words for words, is_on in ((wins, rule.take_wins), (loses, rule.avoid_repetition)) if is_on]
    return " and ".join(does) or "nothing: it may pass over a win at hand, or lose by repetition"


def _digits(number: float) -> str:
    """The number with all of its digits and no exponent: 1, −0.01, 0.99999999."""
    return f"{Decimal(str(number + 0)).normalize():f}".replace("-", "−")
