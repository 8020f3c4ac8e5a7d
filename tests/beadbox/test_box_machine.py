"""The behaviour of the readable box machine, one rule at a time."""

from dataclasses import replace

import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine, Change
from beadbox.learners.boxes.rule import MAX_BEADS, BoxRule, BoxSet, EmptyOpening, FinalLoss, FinalWin, WhenEmpty
from beadbox.rules.outcome import Outcome, Result, Side
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME

START = GAME.initial_position()
START_KEY = GAME.encode(START)
SECOND_MOVE = GAME.decode("X...O....")
SECOND_KEY = GAME.encode(GAME.canonical(SECOND_MOVE))
REMOVING_RULE = BoxRule(initial=(2,), win=1, final_loss=FinalLoss.REMOVE)
SOLE_SLOT_RULE = BoxRule(initial=(2,), win=1, final_win=FinalWin.SOLE, cap=9)


class Tickets:
    """A random source that returns given numbers and records the limits of its calls."""

    def __init__(self, *tickets):
        self.tickets = list(tickets)
        self.limits = []

    def below(self, n):
        self.limits.append(n)
        ticket = self.tickets.pop(0)
        assert 0 <= ticket < n
        return ticket


def make_machine(rule=None, side=Side.FIRST, learns=True, **boxes):
    return BoxMachine(GAME, side, rule or BoxRule(), {key: list(beads) for key, beads in boxes.items()}, learns=learns)


def make_with_first_box(beads, rule=None, **settings):
    return make_machine(rule, **settings, **{START_KEY: beads})


def draws_of(menace, *slots):
    """Return the draws of a game: the first slot from the first box, the second slot from the second box."""
    positions = (START, SECOND_MOVE)
    return [
        BeadDraw(GAME.encode(GAME.canonical(position)), tuple(menace.open_box(position)), slot)
        for position, slot in zip(positions, slots, strict=False)
    ]


def test_a_result_is_seen_from_one_side():
    assert Result.of(Outcome(Side.FIRST, ""), Side.FIRST) is Result.WIN
    assert Result.of(Outcome(Side.FIRST, ""), Side.SECOND) is Result.LOSS
    assert Result.of(Outcome(None, ""), Side.SECOND) is Result.DRAW


def test_a_box_opens_with_its_initial_beads_and_stays():
    menace = make_machine()
    assert menace.boxes == {}
    assert menace.open_box(START) == [4, 4, 4]
    menace.open_box(START)[1] = 7
    assert menace.boxes == {START_KEY: [4, 7, 4]}


@pytest.mark.parametrize(("ticket", "slot"), [(0, 0), (1, 0), (2, 2), (3, 2), (6, 2)])
def test_a_random_number_selects_a_bead(ticket, slot):
    menace, tickets = make_with_first_box([2, 0, 5]), Tickets(ticket)
    assert menace.draw(START, tickets) == BeadDraw(START_KEY, (2, 0, 5), slot)
    assert tickets.limits == [7]
    assert menace.boxes == {START_KEY: [2, 0, 5]}


def test_a_merged_bead_is_played_on_any_member_of_its_class():
    for ticket, corner in enumerate((0, 2, 6, 8)):
        move, draw = make_with_first_box([3, 0, 0]).choose(START, Tickets(1, ticket))
        assert (move, draw.slot) == (corner, 0)


def test_unmerged_bead_is_played_on_any_member_of_its_class():
    menace = make_with_first_box([0, 0, 5, 0, 0, 0, 0, 0, 0], BoxRule(merge_symmetric_moves=False))
    assert [menace.choose(START, Tickets(0, ticket))[0] for ticket in range(4)] == [0, 2, 6, 8]
    assert menace.policy(START) == {0: 0.25, 2: 0.25, 6: 0.25, 8: 0.25, 1: 0, 3: 0, 4: 0, 5: 0, 7: 0}


def test_a_forced_move_needs_no_bead_and_no_random_number():
    forced = GAME.decode("XOXXOOOX.")
    assert make_machine().choose(forced, Tickets()) == (8, None)
    assert make_machine().policy(forced) == {8: 1}
    move, draw = make_machine(BoxRule(box_set=BoxSet.ALL)).choose(forced, Tickets(0, 0))
    assert (move, draw.beads, draw.slot) == (8, (1,), 0)


def test_the_policy_is_the_share_of_beads():
    menace = make_with_first_box([8, 4, 4])
    assert menace.policy(START) == {
        **dict.fromkeys((0, 2, 6, 8), 8 / 16 / 4),
        **dict.fromkeys((1, 3, 5, 7), 4 / 16 / 4),
        4: 4 / 16,
    }


def test_computing_the_policy_opens_no_box():
    menace = make_machine()
    assert sum(menace.policy(START).values()) == pytest.approx(1)
    assert menace.boxes == {}


def test_greedy_play_takes_the_fullest_slot():
    """Slots with equally many beads are equally likely."""
    menace = make_with_first_box([5, 7, 7])
    assert menace.draw(START, Tickets(0), greedy=True).slot == 1
    assert menace.draw(START, Tickets(1), greedy=True).slot == 2
    assert menace.policy(START, greedy=True) == {
        **dict.fromkeys((1, 3, 5, 7), 1 / 8),
        **dict.fromkeys((0, 2, 6, 8), 0),
        4: 1 / 2,
    }


def test_an_empty_box_resigns_without_a_random_number():
    menace = make_machine(**{SECOND_KEY: [0] * 4})
    draw = menace.draw(SECOND_MOVE, Tickets())
    assert draw == BeadDraw(SECOND_KEY, (0,) * 4, None)
    assert menace.choose(SECOND_MOVE, Tickets())[0] is None
    assert not any(menace.policy(SECOND_MOVE).values())
    assert menace.boxes == {SECOND_KEY: [0] * 4}


def test_the_opening_box_of_a_machine_that_resigns_is_refilled():
    menace = make_with_first_box([0, 0, 0])
    assert menace.draw(START, Tickets(11)) == BeadDraw(START_KEY, (4, 4, 4), 2, refilled=True)
    assert menace.boxes == {START_KEY: [4, 4, 4]}


def test_opening_rule_covers_the_second_players_first_box():
    after_centre = GAME.decode("....X....")
    menace = make_machine(side=Side.SECOND, **{"....X....": [0, 0]})
    assert menace.draw(after_centre, Tickets(0)).refilled


def test_a_machine_may_resign_for_good():
    menace = make_with_first_box([0, 0, 0], BoxRule(empty_opening=EmptyOpening.STOP))
    assert menace.draw(START, Tickets()).slot is None
    assert menace.boxes == {START_KEY: [0, 0, 0]}


def test_any_empty_box_may_be_refilled():
    menace = make_machine(BoxRule(when_empty=WhenEmpty.REFILL), **{SECOND_KEY: [0] * 4})
    draw = menace.draw(SECOND_MOVE, Tickets(0))
    assert draw == BeadDraw(SECOND_KEY, (3,) * 4, 0, refilled=True)
    assert menace.boxes[SECOND_KEY] == [3] * 4
    assert menace.n_removed == 0


def test_a_machine_with_no_initial_beads_resigns():
    menace = make_machine(BoxRule(initial=(4, 0), when_empty=WhenEmpty.REFILL))
    assert menace.draw(SECOND_MOVE, Tickets()) == BeadDraw(SECOND_KEY, (0,) * 4, None)


def test_empty_box_may_play_any_legal_move():
    """Each legal move is equally likely under the rule ``WhenEmpty.UNIFORM``."""
    menace = make_with_first_box([0, 0, 0], BoxRule(when_empty=WhenEmpty.UNIFORM))
    tickets = [Tickets(ticket) for ticket in range(9)]
    assert [menace.draw(START, t).slot for t in tickets] == [0, 0, 0, 0, 1, 1, 1, 1, 2]
    assert {n for t in tickets for n in t.limits} == {9}
    assert menace.policy(START) == pytest.approx(dict.fromkeys(range(9), 1 / 9))


@pytest.mark.parametrize(
    ("result", "first_box", "second_beads"),
    [(Result.WIN, [7, 4, 4], 6), (Result.DRAW, [5, 4, 4], 4), (Result.LOSS, [3, 4, 4], 2)],
)
def test_every_box_used_gains_or_loses_on_the_slot_played(result, first_box, second_beads):
    menace = make_machine()
    changes = menace.restock(draws_of(menace, 0, 2), result)
    assert menace.boxes == {START_KEY: first_box, SECOND_KEY: [3, 3, second_beads, 3]}
    assert changes == [
        Change(START_KEY, (first_box[0] - 4, 0, 0)),
        Change(SECOND_KEY, (0, 0, second_beads - 3, 0)),
    ]


def test_a_box_used_twice_changes_twice_in_order():
    menace = make_with_first_box([1, 4, 4])
    draw = BeadDraw(START_KEY, (1, 4, 4), 0)
    changes = menace.restock([draw, draw], Result.LOSS)
    assert [change.deltas for change in changes] == [(-1, 0, 0), (0, 0, 0)]
    assert menace.boxes[START_KEY] == [0, 4, 4]


def test_no_slot_falls_below_the_floor_or_rises_above_the_cap():
    rule = BoxRule(initial=(3,), win=5, loss=-5, floor=1, cap=6)
    menace = make_machine(rule)
    assert menace.restock(draws_of(menace, 0), Result.WIN) == [Change(START_KEY, (3, 0, 0))]
    assert menace.restock(draws_of(menace, 1), Result.LOSS) == [Change(START_KEY, (0, -2, 0))]
    assert menace.boxes == {START_KEY: [6, 1, 3]}


def test_beads_stay_below_the_limit_of_the_kernels():
    menace = make_with_first_box([MAX_BEADS - 1, 0, 0])
    menace.restock([BeadDraw(START_KEY, (MAX_BEADS - 1, 0, 0), 0)], Result.WIN)
    assert menace.boxes[START_KEY][0] == MAX_BEADS


def test_only_the_last_box_used_may_learn():
    menace = make_machine(BoxRule(only_last=True))
    changes = [Change(START_KEY, (0, 0, 0)), Change(SECOND_KEY, (-1, 0, 0, 0))]
    assert menace.restock(draws_of(menace, 0, 0), Result.LOSS) == changes
    assert menace.boxes[START_KEY] == [4, 4, 4]
    assert menace.restock([], Result.LOSS) == []


def test_a_loss_may_remove_the_last_slot_for_good():
    menace = make_machine(REMOVING_RULE)
    assert menace.restock(draws_of(menace, 0, 2), Result.LOSS) == [
        Change(START_KEY, (-1, 0, 0)),
        Change(SECOND_KEY, (0, 0, -2, 0)),
    ]
    assert (menace.n_removed, menace.level) == (1, 2)
    # The slot was removed before: it is neither counted again nor restored.
    menace.restock(draws_of(menace, 0, 2), Result.LOSS)
    assert menace.n_removed == 1
    menace.restock(draws_of(menace, 1, 2), Result.WIN)
    assert menace.boxes[SECOND_KEY] == [2, 2, 0, 2]
    assert menace.boxes[START_KEY] == [0, 3, 2]


def test_emptied_slot_returns_only_without_removal():
    """A win adds beads to a slot that ran empty, unless the rule removes slots after a final loss."""
    for rule, beads in ((REMOVING_RULE, 0), (replace(REMOVING_RULE, final_loss=FinalLoss.NONE), 1)):
        menace = make_with_first_box([0, 2, 2], rule)
        menace.restock([BeadDraw(START_KEY, (0, 2, 2), 0)], Result.WIN)
        assert menace.boxes[START_KEY][0] == beads


def test_a_win_may_make_the_last_slot_the_only_one():
    menace = make_machine(SOLE_SLOT_RULE)
    assert menace.restock(draws_of(menace, 0, 2), Result.WIN) == [
        Change(START_KEY, (1, 0, 0)),
        Change(SECOND_KEY, (-2, -2, 7, -2)),
    ]
    assert menace.boxes == {START_KEY: [3, 2, 2], SECOND_KEY: [0, 0, 9, 0]}
    assert (menace.n_removed, menace.level) == (3, 4)
    menace.restock(draws_of(menace, 0, 2), Result.WIN)
    assert menace.n_removed == 3


def test_sole_slot_rule_counts_the_slots_that_it_removes():
    menace = make_with_first_box([0, 2, 2], SOLE_SLOT_RULE)
    menace.restock([BeadDraw(START_KEY, (0, 2, 2), 1)], Result.WIN)
    assert menace.boxes[START_KEY] == [0, 9, 0]
    assert menace.n_removed == 1


def test_a_refill_brings_removed_slots_back():
    menace = make_machine(replace(REMOVING_RULE, when_empty=WhenEmpty.REFILL), **{SECOND_KEY: [0] * 4})
    assert menace.draw(SECOND_MOVE, Tickets(7)).slot == 3
    assert menace.boxes[SECOND_KEY] == [2] * 4


@pytest.mark.parametrize(
    ("punish", "beads", "n_removed"),
    [(False, [1, 2, 2], 0), (True, [0, 2, 2], 1)],
    ids=["a loss like any other", "the move before is the last"],
)
def test_a_resignation_teaches_as_the_rule_says(punish, beads, n_removed):
    rule = replace(REMOVING_RULE, punish_previous_on_resign=punish)
    menace = make_machine(rule)
    menace.restock(draws_of(menace, 0), Result.LOSS, resigned=True)
    assert menace.boxes[START_KEY] == beads
    assert menace.n_removed == n_removed


def test_resignation_teaches_only_last_learners_if_it_counts():
    """A machine that learns from its last move learns from a resignation only with ``punish_previous_on_resign``."""
    for punish, beads in ((False, [4, 4, 4]), (True, [3, 4, 4])):
        menace = make_machine(BoxRule(only_last=True, punish_previous_on_resign=punish))
        menace.restock(draws_of(menace, 0), Result.LOSS, resigned=True)
        assert menace.boxes[START_KEY] == beads


def test_punishing_the_previous_move_needs_a_resignation():
    """``punish_previous_on_resign`` changes nothing when the machine played on and lost."""
    for punish in (False, True):
        menace = make_machine(replace(REMOVING_RULE, punish_previous_on_resign=punish))
        menace.restock(draws_of(menace, 0), Result.LOSS)
        assert menace.boxes[START_KEY] == [0, 2, 2]


def test_frozen_machine_plays_like_a_learner_without_changing():
    """A frozen machine draws from a refilled copy of an empty box; its own beads and counters stay."""
    menace = make_with_first_box([0, 0, 0], learns=False)
    assert menace.draw(START, Tickets(11)) == BeadDraw(START_KEY, (4, 4, 4), 2, refilled=True)
    assert menace.policy(START)[4] == pytest.approx(1 / 3)
    assert menace.restock([BeadDraw(START_KEY, (4, 4, 4), 2)], Result.WIN) == []
    assert menace.boxes == {START_KEY: [0, 0, 0]}
    assert (menace.n_removed, menace.level) == (0, 1)


def test_learning_from_a_resignation_is_refused():
    with pytest.raises(AssertionError, match="not a move played"):
        make_machine().restock([BeadDraw(START_KEY, (0, 0, 0), None)], Result.LOSS)


def test_slots_are_drawn_in_proportion_to_their_beads():
    menace, source = make_with_first_box([1, 3, 6]), RandomSource(3)
    slots = [menace.draw(START, source).slot for _ in range(10_000)]
    assert [slots.count(slot) for slot in range(3)] == pytest.approx([1_000, 3_000, 6_000], abs=300)


class TestMovesOfAPerson:
    """A person plays from the machine's seat, and the machine records the move like a draw of its own."""

    @pytest.mark.parametrize(
        "rule",
        [
            BoxRule(),
            BoxRule(merge_symmetric_moves=False),
            BoxRule(merge_symmetric_moves=False, reduce_symmetry=False),
        ],
    )
    def test_followed_move_belongs_to_the_drawn_slot(self, rule):
        """A move played by hand finds the box and slot of its position in every orientation."""
        for text in (".........", "X...O....", "..X.O....", "X.O......", "XOX.O....", "....O.X..", "X...O...X"):
            position = GAME.decode(text)
            menace = make_machine(rule, GAME.side_to_move(position))
            for move in GAME.legal_moves(position):
                draw = menace.follow(position, move)
                assert draw.box == GAME.encode(menace.cabinet.box_position(position))
                assert move in menace.cabinet.slot_moves(position)[draw.slot]

    def test_machine_learns_from_the_move_as_from_its_own(self):
        menace, own = make_machine(), make_machine()
        followed = [menace.follow(START, 8), menace.follow(SECOND_MOVE, 8)]
        assert followed == [
            BeadDraw(START_KEY, (4, 4, 4), 0),
            BeadDraw(SECOND_KEY, followed[1].beads, followed[1].slot),
        ]
        drawn = draws_of(own, 0, followed[1].slot)
        assert menace.restock(followed, Result.WIN) == own.restock(drawn, Result.WIN)
        assert menace.boxes == own.boxes

    def test_no_box_is_opened_where_the_machine_has_none(self):
        forced = GAME.decode("XOXOXXO.O")
        assert make_machine().follow(forced, GAME.legal_moves(forced)[0]) is None
        assert make_machine(side=Side.SECOND).follow(START, 0) is None

    def test_an_empty_box_is_refilled_as_the_rule_says(self):
        refills = make_with_first_box((0, 0, 0), BoxRule(when_empty=WhenEmpty.REFILL))
        assert refills.follow(START, 4) == BeadDraw(START_KEY, (4, 4, 4), 2, refilled=True)
        assert refills.boxes[START_KEY] == [4, 4, 4]
        stops = make_with_first_box((0, 0, 0), BoxRule(empty_opening=EmptyOpening.STOP))
        assert stops.follow(START, 4) == BeadDraw(START_KEY, (0, 0, 0), 2)
