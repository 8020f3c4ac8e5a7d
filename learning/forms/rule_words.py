"""The rule of a machine with boxes as a form: every field in words."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from types import UnionType
from typing import Any

from django import forms

from learning.core.machines.q_learning import QRule
from learning.core.machines.registry import Rule
from learning.core.machines.rule import BoxRule


@dataclass(frozen=True, slots=True)
class Words:
    """What a field of the rule is called, what it does, and what its choices mean."""

    label: str
    does: str
    choices: dict[str, str] | None = None


RULE_WORDS: dict[str, Words] = {
    "initial": Words(
        "Beads at the start",
        "How many beads of each colour a box begins with: for the first move, the second, and so on. "
        "The last number goes on for ever.",
    ),
    "initial_by": Words(
        "What those numbers count",
        "The first number is for the first what?",
        {
            "move_number": "the machine's first move",
            "ply": "the first move of the whole game, whoever makes it",
            "cell": "the first square of the board",
        },
    ),
    "win": Words("After a win", "So many beads of the colour played go into every box that was opened."),
    "draw": Words("After a draw", "The same, when nobody won."),
    "loss": Words("After a loss", "The same, when it lost. A minus takes beads out."),
    "final_win": Words(
        "The last move of a win",
        "What happens in the last box, the one whose bead won the game.",
        {"none": "nothing special", "sole": "that move becomes the only one in its box, for good"},
    ),
    "final_loss": Words(
        "The last move of a loss",
        "What happens in the last box, the one whose bead lost the game.",
        {"none": "nothing special", "remove": "that colour is taken out of its box for good"},
    ),
    "only_last": Words("Learn in the last box only", "All the other boxes of the game stay as they are."),
    "floor": Words(
        "Never fewer beads than", "A colour never falls below this many, so that no move is ever forgotten."
    ),
    "cap": Words(
        "Never more beads than", "A colour never rises above this many. Leave it empty for as many as there are."
    ),
    "when_empty": Words(
        "When a box is empty",
        "What it does when it opens a box and there is no bead in it.",
        {
            "resign": "it gives up the game",
            "refill": "the box is filled as it was at the start",
            "uniform": "it plays anything that is allowed",
        },
    ),
    "empty_opening": Words(
        "When its very first box is empty",
        "A machine that gives up could never play again.",
        {"refill": "the first box is filled again", "stop": "it refuses to play for ever"},
    ),
    "punish_previous_on_resign": Words(
        "Blame the move before",
        "When it gives up at an empty box, the bead played before that counts as the one that lost.",
    ),
    "merge_symmetric_moves": Words(
        "One colour for moves that are alike",
        "On the empty board the four corners are the same move, only turned; then they share a colour.",
    ),
    "reduce_symmetry": Words(
        "One box for boards that are alike",
        "A board that is another one turned or seen in a mirror opens the same box.",
    ),
    "box_set": Words(
        "Which boards have a box",
        "When only one move is left there is nothing to choose.",
        {"decisions": "only those with something to choose", "all": "every board where it is to move"},
    ),
    "open_boxes": Words(
        "When boxes are made",
        "Michie glued them all before the first game.",
        {"in_advance": "all of them, before the first game", "when_met": "each when it is first needed"},
    ),
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
    "epsilon_floor": Words("But never less often than", "The chance never falls below this, so it never stops trying."),
}
"""Every field of a rule, of any kind."""


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Fields that the editor shows together, and the formula that they stand in, if there is one."""

    name: str
    fields: tuple[str, ...]
    exactly: str = ""


RULE_GROUPS: dict[str, tuple[RuleGroup, ...]] = {
    BoxRule.kind: (
        RuleGroup("The beads at the start", ("initial", "initial_by", "floor", "cap")),
        RuleGroup("What a game changes", ("win", "draw", "loss", "only_last", "final_win", "final_loss")),
        RuleGroup("An empty box", ("when_empty", "empty_opening", "punish_previous_on_resign")),
        RuleGroup("The boxes", ("reduce_symmetry", "merge_symmetric_moves", "box_set", "open_boxes")),
    ),
    QRule.kind: (
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
    ),
}
"""The fields of each kind of rule in the order of the editor."""


def rule_field(name: str, hint: Any) -> forms.Field:
    """The form field for a field of the rule, by its type."""
    words = RULE_WORDS[name]
    shared: dict[str, Any] = {"label": words.label, "help_text": words.does, "required": False}
    if hint is bool:
        return forms.BooleanField(**shared)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        assert words.choices is not None
        return forms.ChoiceField(choices=[(str(value), words.choices[value]) for value in hint], **shared)
    if hint is int or isinstance(hint, UnionType):
        return forms.IntegerField(localize=False, **shared)
    if hint is float:
        return forms.FloatField(localize=False, **shared)
    return forms.CharField(max_length=400, **shared)


def rule_to_form(rule: Rule) -> dict[str, Any]:
    """The values of the rule's form fields."""
    values = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return values | {"initial": ", ".join(map(str, rule.initial))} if isinstance(rule, BoxRule) else values
