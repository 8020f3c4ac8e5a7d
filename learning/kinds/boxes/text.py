"""The rule of a machine with boxes in words: every field of the editor, and the rule of a given machine."""

from __future__ import annotations

from itertools import accumulate, groupby

from beadbox.learners.boxes.rule import (
    BoxRule,
    BoxSet,
    EmptyOpening,
    FinalLoss,
    FinalWin,
    InitialBy,
    OpenBoxes,
    RepeatedVisits,
    Unfinished,
    WhenEmpty,
)
from learning.kinds.page import KindText, RuleGroup, Words

WORDS: dict[str, Words] = {
    "initial": Words(
        "Beads at the start",
        "Beads of each colour in a new box: for the first move, the second, and so on. "
        "The last number counts for all later moves.",
    ),
    "initial_by": Words(
        "Meaning of these numbers",
        "What do the numbers count?",
        {
            "move_number": "the machine's first move",
            "ply": "the first move of the whole game, whoever makes it",
            "cell": "the first square of the board",
        },
    ),
    "win": Words("After a win", "Beads of the colour played that go into every box it opened."),
    "draw": Words("After a draw", "The same for a draw."),
    "loss": Words("After a loss", "The same for a loss. A negative number takes beads out."),
    "final_win": Words(
        "The last move of a win",
        "The change in the last box, whose bead won the game.",
        {"none": "nothing special", "sole": "all other moves are removed from that box permanently"},
    ),
    "final_loss": Words(
        "The last move of a loss",
        "The change in the last box, whose bead lost the game.",
        {"none": "nothing special", "remove": "that colour is removed from its box permanently"},
    ),
    "only_last": Words("Learn in the last box only", "All the other boxes of the game stay as they are."),
    "floor": Words(
        "Never fewer beads than", "A colour never falls below this number, so the machine never forgets a move."
    ),
    "cap": Words("Never more beads than", "A colour never rises above this number. Leave this empty for no limit."),
    "when_empty": Words(
        "When a box is empty",
        "The machine opens a box without beads. What does it do?",
        {
            "resign": "it gives up the game",
            "refill": "the box is filled as it was at the start",
            "uniform": "it chooses its move at random",
        },
    ),
    "empty_opening": Words(
        "When the first box is empty",
        "A machine that gives up here could never play again.",
        {"refill": "the first box is filled again", "stop": "it never plays again"},
    ),
    "punish_previous_on_resign": Words(
        "Blame the move before",
        "After it gives up at an empty box, the bead played before counts as the losing bead.",
    ),
    "merge_symmetric_moves": Words(
        "One colour for matching moves",
        "On the empty board the four corners are the same move, only turned. They share a colour.",
    ),
    "reduce_symmetry": Words(
        "One box for matching boards",
        "A board and its rotations and reflections open the same box.",
    ),
    "box_set": Words(
        "Boards that have a box",
        "With only one possible move, the machine has nothing to choose.",
        {"decisions": "only boards with a choice", "all": "every board on which the machine moves"},
    ),
    "open_boxes": Words(
        "Time when boxes are made",
        "Michie made all boxes before the first game.",
        {"in_advance": "all of them, before the first game", "when_met": "each when it is first needed"},
    ),
    "repeated_visits": Words(
        "A box opened several times",
        "In some games a board can return, so one game opens its box again. Which of these times count?",
        {"every": "every time", "first": "only the first time", "last": "only the last time"},
    ),
    "unfinished": Words(
        "A game without an end",
        "Some games stop after many moves, or because both players agree to a draw.",
        {"result": "the boxes learn from its result", "none": "the boxes stay as they are"},
    ),
}

GROUPS = (
    RuleGroup("The beads at the start", ("initial", "initial_by", "floor", "cap")),
    RuleGroup("Changes after a game", ("win", "draw", "loss", "only_last", "final_win", "final_loss")),
    RuleGroup("An empty box", ("when_empty", "empty_opening", "punish_previous_on_resign")),
    RuleGroup("The boxes", ("reduce_symmetry", "merge_symmetric_moves", "box_set", "open_boxes")),
    RuleGroup("A game that goes round in circles", ("repeated_visits", "unfinished")),
)

TEXT = KindText(
    noun="boxes",
    words=WORDS,
    groups=GROUPS,
    see="See its boxes",
    why="why",
    admin_list=("box", "machine__id__exact"),
)

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def describe_rule(rule: BoxRule, *, has_draws: bool = True) -> list[tuple[str, str]]:
    """Return (label, sentences) for each part of a rule that has an effect in a game with or without draws."""
    draw = [f"After a draw {_boxes_phrase(rule)} {_gain_phrase(rule.draw)}."] if has_draws and rule.draw else []
    changes = {"Win": _win_sentences(rule), "Draw": draw, "Loss": _loss_sentences(rule)}
    if not any(changes.values()):
        changes["Learning"] = ["Its beads never change."]
    parts = {
        "Start": [_start_sentence(rule)],
        **changes,
        "Limits": _limit_sentences(rule, has_draws),
        "Empty box": _empty_box_sentences(rule) if _can_empty(rule, has_draws) else [],
        "Boxes": _sharing_sentences(rule),
    }
    return [(label, " ".join(texts)) for label, texts in parts.items() if texts]


def _start_sentence(rule: BoxRule) -> str:
    """Return a sentence on the beads at the start; equal numbers in a row are named once."""
    numbers = list(rule.initial)
    if len(set(numbers)) == 1:
        return f"{_beads_phrase(numbers[0])[0].upper()}{_beads_phrase(numbers[0])[1:]} of each colour."
    if rule.initial_by is InitialBy.CELL:
        return f"By square, from the top left: {', '.join(map(str, numbers))} beads."
    stretches = [(beads, len(list(same))) for beads, same in groupby(numbers)]
    last_moves = list(accumulate(length for _, length in stretches))
    if rule.initial_by is InitialBy.MOVE_NUMBER and len(stretches) == len(numbers) <= len(ORDINALS):
        periods = [f"for its {name} move" if name == "first" else f"for the {name}" for name in ORDINALS]
    else:
        owner = " of the game" if rule.initial_by is InitialBy.PLY else " of its own"
        periods = [f"up to move {last_move}{owner if last_move == last_moves[0] else ''}" for last_move in last_moves]
    periods[len(stretches) - 1] = "after that"
    later = [f"{beads} {period}" for (beads, _), period in zip(stretches[1:], periods[1:], strict=False)]
    first = f"{_beads_phrase(stretches[0][0])} of each colour {periods[0]}"
    return f"{first}, {', '.join(later)}." if periods[0].startswith("for") else f"{first}. Then {', '.join(later)}."


def _win_sentences(rule: BoxRule) -> list[str]:
    texts = []
    if rule.final_win is FinalWin.SOLE:
        texts.append(f"After a win the last move becomes the only one in its box, with {_beads_phrase(rule.highest)}.")
    if rule.win and not (texts and rule.only_last):
        texts.append(f"After a win {_boxes_phrase(rule, is_last_apart=bool(texts))} {_gain_phrase(rule.win)}.")
    return texts


def _loss_sentences(rule: BoxRule) -> list[str]:
    texts = []
    if rule.final_loss is FinalLoss.REMOVE:
        # Without gains, and with at most one bead of each colour at the start, a colour never has two beads.
        gains = rule.win > 0 or rule.draw > 0 or rule.loss > 0 or rule.final_win is FinalWin.SOLE
        beads = "every bead of the last colour played" if gains or max(rule.initial) > 1 else "the last bead"
        texts.append(f"After a loss {beads} is taken out for good.")
    if rule.loss and not (texts and rule.only_last):
        texts.append(f"After a loss {_boxes_phrase(rule, is_last_apart=bool(texts))} {_gain_phrase(rule.loss)}.")
    return texts


def _boxes_phrase(rule: BoxRule, *, is_last_apart: bool = False) -> str:
    if rule.only_last:
        return "the last box that it used"
    return "every earlier box" if is_last_apart else "every box that it used"


def _gain_phrase(change: int) -> str:
    return f"{'gains' if change > 0 else 'loses'} {_beads_phrase(abs(change))} of the colour played"


def _beads_phrase(number: int) -> str:
    return "one bead" if number == 1 else f"{number:,} beads"


def _changes(rule: BoxRule, has_draws: bool) -> list[int]:
    return [rule.win, rule.draw if has_draws else 0, rule.loss]


def _limit_sentences(rule: BoxRule, has_draws: bool) -> list[str]:
    changes, texts = _changes(rule, has_draws), []
    if rule.floor and min(changes) < 0:
        texts.append(
            f"A colour never has fewer than {_beads_phrase(rule.floor)}{' unless it is taken out' * rule.removes}."
        )
    if rule.cap is not None and max(changes) > 0:
        texts.append(f"A colour never has more than {_beads_phrase(rule.cap)}.")
    return texts


def _can_empty(rule: BoxRule, has_draws: bool) -> bool:
    takes_beads = min(_changes(rule, has_draws)) < 0 and not rule.floor
    return rule.final_loss is FinalLoss.REMOVE or takes_beads or 0 in rule.initial


def _empty_box_sentences(rule: BoxRule) -> list[str]:
    if rule.when_empty is WhenEmpty.REFILL:
        return ["An empty box is filled again, as it was at the start."]
    if rule.when_empty is WhenEmpty.UNIFORM:
        return ["At an empty box it chooses its move at random."]
    texts = ["At an empty box it gives up."]
    if rule.punish_previous_on_resign and (rule.only_last or rule.final_loss is FinalLoss.REMOVE):
        texts.append("Then its move before that counts as the one that lost.")
    refills = rule.empty_opening is EmptyOpening.REFILL
    return [
        *texts,
        "If its first box is empty, that one is filled again."
        if refills
        else "If its first box is empty, it never plays again.",
    ]


def _sharing_sentences(rule: BoxRule) -> list[str]:
    only_choices = rule.box_set is BoxSet.DECISIONS
    texts = [
        "Every position with a choice has a box." if only_choices else "Every position in which it moves has a box."
    ]
    if rule.reduce_symmetry:
        texts.append("Boards that are the same when turned or mirrored share a box.")
    if rule.merge_symmetric_moves:
        texts.append("Matching squares share a colour.")
    if rule.open_boxes is OpenBoxes.WHEN_MET:
        texts.append("A box is made when it is first needed.")
    if rule.repeated_visits is not RepeatedVisits.EVERY:
        texts.append(f"Of several openings of a box in one game only the {rule.repeated_visits} counts.")
    if rule.unfinished is Unfinished.NONE:
        texts.append("A game without an end changes nothing.")
    return texts
