"""The rule of a machine with boxes in words: every field of the editor, and the rule of a machine that is there."""

from __future__ import annotations

from learning.core.machines.rule import BoxRule, BoxSet, EmptyOpening, FinalLoss, FinalWin, WhenEmpty
from learning.kinds.base import RuleGroup, Words

WORDS: dict[str, Words] = {
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
}

GROUPS = (
    RuleGroup("The beads at the start", ("initial", "initial_by", "floor", "cap")),
    RuleGroup("What a game changes", ("win", "draw", "loss", "only_last", "final_win", "final_loss")),
    RuleGroup("An empty box", ("when_empty", "empty_opening", "punish_previous_on_resign")),
    RuleGroup("The boxes", ("reduce_symmetry", "merge_symmetric_moves", "box_set", "open_boxes")),
)


def sentences(rule: BoxRule) -> list[tuple[str, str]]:
    """The rule, field by field that matters, as (label, sentence)."""
    by = {"move_number": "by its own move number", "ply": "by the number of pieces on the board", "cell": "by square"}
    refills = rule.empty_opening is EmptyOpening.REFILL
    opening = "the very first box is filled again" if refills else "with an empty first box it refuses to play"
    boxes = [
        "one for every choice" if rule.box_set is BoxSet.DECISIONS else "one for every turn",
        "turned boards share a box" if rule.reduce_symmetry else "every board as it lies",
    ]
    if rule.merge_symmetric_moves:
        boxes.append("like squares share a colour")
    sentences = [
        ("Starts with", f"{', '.join(map(str, rule.initial))} beads of each colour, {by[rule.initial_by]}"),
        ("Win, draw, loss", f"{rule.win:+d}, {rule.draw:+d}, {rule.loss:+d} beads on the move played"),
        (
            "Empty box",
            {
                WhenEmpty.RESIGN: f"it resigns; {opening}",
                WhenEmpty.REFILL: "it is filled again as it was at the start",
                WhenEmpty.UNIFORM: "it plays anything that is allowed",
            }[rule.when_empty],
        ),
        ("Boxes", ", ".join(boxes)),
    ]
    if rule.floor:
        sentences.append(("Never fewer than", f"{rule.floor} of a colour"))
    if rule.cap is not None:
        sentences.append(("Never more than", f"{rule.cap} of a colour"))
    if rule.final_win is not FinalWin.NONE:
        sentences.append(("Last move of a win", "becomes the only one in its box"))
    if rule.final_loss is not FinalLoss.NONE:
        sentences.append(("Last move of a loss", "is taken out of its box for good"))
    if rule.only_last:
        sentences.append(("Learns", "in the last box it opened only"))
    return sentences
