"""Box rules for tests: a strategy that draws them, and examples written by hand in which every field matters."""

from hypothesis import strategies as st

from beadbox.learners.boxes.rule import (
    BoxRule,
    BoxSet,
    EmptyOpening,
    FinalLoss,
    FinalWin,
    InitialBy,
    OpenBoxes,
    WhenEmpty,
)

EXAMPLE_RULES = {
    "hexapawn-like": BoxRule(
        initial=(1,),
        final_win=FinalWin.SOLE,
        final_loss=FinalLoss.REMOVE,
        floor=1,
        cap=100,
        punish_previous_on_resign=True,
        merge_symmetric_moves=False,
        box_set=BoxSet.ALL,
        open_boxes=OpenBoxes.WHEN_MET,
    ),
    "hexapawn-like, stops": BoxRule(
        initial=(1,),
        win=0,
        draw=0,
        loss=0,
        final_win=FinalWin.SOLE,
        final_loss=FinalLoss.REMOVE,
        floor=1,
        cap=100,
        punish_previous_on_resign=True,
        empty_opening=EmptyOpening.STOP,
    ),
    "gardner-like": BoxRule(
        initial=(1,), win=0, draw=0, loss=0, final_loss=FinalLoss.REMOVE, punish_previous_on_resign=True
    ),
    "gardner-like, plays on": BoxRule(initial=(2,), win=1, final_loss=FinalLoss.REMOVE, when_empty=WhenEmpty.UNIFORM),
    "gardner-like, refills": BoxRule(initial=(2,), win=1, final_loss=FinalLoss.REMOVE, when_empty=WhenEmpty.REFILL),
    "only last": BoxRule(initial=(3,), win=2, loss=-2, only_last=True),
    "only last, previous punished": BoxRule(
        initial=(2, 1), loss=-1, only_last=True, punish_previous_on_resign=True, empty_opening=EmptyOpening.STOP
    ),
    "only last, sole": BoxRule(
        initial=(2,), cap=5, final_win=FinalWin.SOLE, only_last=True, when_empty=WhenEmpty.UNIFORM
    ),
    "low cap": BoxRule(initial=(2, 2, 1), cap=3, loss=-2, when_empty=WhenEmpty.UNIFORM),
    "plays anything, merged": BoxRule(initial=(1,), win=1, draw=0, loss=-1, when_empty=WhenEmpty.UNIFORM),
    "plays anything, not merged": BoxRule(
        initial=(1,), win=1, draw=0, loss=-1, when_empty=WhenEmpty.UNIFORM, merge_symmetric_moves=False
    ),
    "starts empty by cell": BoxRule(
        initial=(2, 0, 2, 0, 3), initial_by=InitialBy.CELL, when_empty=WhenEmpty.UNIFORM, merge_symmetric_moves=False
    ),
    "later boxes start empty": BoxRule(initial=(3, 0), draw=0),
    "refills with nothing": BoxRule(initial=(3, 0), when_empty=WhenEmpty.REFILL),
    "rewards losing": BoxRule(initial=(5,), win=-2, draw=-1, loss=2, empty_opening=EmptyOpening.STOP),
    "as it lies, decisions": BoxRule(initial=(2,), merge_symmetric_moves=False, reduce_symmetry=False),
    "as it lies, removes": BoxRule(
        initial=(2,),
        merge_symmetric_moves=False,
        reduce_symmetry=False,
        final_loss=FinalLoss.REMOVE,
        when_empty=WhenEmpty.REFILL,
    ),
}


@st.composite
def box_rules(draw):
    """Draw a rule with small numbers, so that boxes run empty, are refilled and reach the cap within a few games."""
    floor = draw(st.integers(0, 2))
    cap = draw(st.one_of(st.none(), st.integers(max(floor, 1), 6)))
    final_win = draw(st.sampled_from(FinalWin)) if cap is not None else FinalWin.NONE
    initial = draw(st.lists(st.integers(floor, 6 if cap is None else cap), min_size=1, max_size=9).filter(any))
    reduce_symmetry = draw(st.booleans())
    return BoxRule(
        initial=tuple(initial),
        initial_by=draw(st.sampled_from(InitialBy)),
        win=draw(st.integers(-2, 4)),
        draw=draw(st.integers(-2, 2)),
        loss=draw(st.integers(-4, 2)),
        final_win=final_win,
        final_loss=draw(st.sampled_from(FinalLoss)),
        only_last=draw(st.booleans()),
        floor=floor,
        cap=cap,
        when_empty=draw(st.sampled_from(WhenEmpty)),
        empty_opening=draw(st.sampled_from(EmptyOpening)),
        punish_previous_on_resign=draw(st.booleans()),
        merge_symmetric_moves=reduce_symmetry and draw(st.booleans()),
        reduce_symmetry=reduce_symmetry,
        box_set=draw(st.sampled_from(BoxSet)),
        open_boxes=draw(st.sampled_from(OpenBoxes)),
    )
