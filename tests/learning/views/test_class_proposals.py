"""The proposal for a class names games, results and its model, and better choices where a machine learns too little."""

import re
from dataclasses import replace

import pytest

from beadbox.rules.outcome import Side
from learning.exceptions import ClassRefusedError
from learning.forms.class_proposals import Proposal, proposal_of
from learning.forms.classrooms import class_games
from learning.services.classrooms import ClassPlan

PLAN = ClassPlan(name="7b", game="hexapawn", side=Side.SECOND, preset="", n_pupils=24, minutes=40)
GAMES = [slug for _, games in class_games() for slug, _ in games]


def sentences(proposal: Proposal) -> list[str]:
    texts = [proposal.title, *proposal.results, *proposal.model, *proposal.problem, *proposal.advice]
    return [sentence for text in texts for sentence in re.split(r"(?<=\.) ", text)]


def test_her_learns_in_one_lesson() -> None:
    proposal = proposal_of(PLAN)
    assert proposal.title == "24 pupils, 40 minutes: HER, about 46 games each."
    assert proposal.results == ["Nine of ten machines will win at least 8 of their last 10."]
    assert proposal.model[0] == "A game takes about 52 seconds: 4 moves of 5 seconds, and 30 to look at the beads."
    assert proposal.problem == proposal.advice == []


def test_large_game_is_answered_by_a_smaller_one() -> None:
    proposal = proposal_of(replace(PLAN, game="noughts-and-crosses"))
    assert re.search(r"A machine opens about \d\d of its 289 boxes", proposal.problem[1])
    assert proposal.advice[-1] == (
        "Choose Hexapawn with 19 boxes, and let all machines play second. "
        "Nine of ten machines will win at least 8 of their last 10."
    )


def test_few_minutes_and_a_losing_side_get_advice() -> None:
    assert "Take 20 minutes" in proposal_of(replace(PLAN, minutes=5)).advice[0]
    halves = proposal_of(replace(PLAN, side=None))
    assert halves.results[0] == "Most machines that play first will win none of their last 10."
    assert halves.advice[0].startswith("All machines play second. Nine of ten")


def test_wrong_plans_are_refused() -> None:
    for wrong_fields in ({"game": "chess"}, {"preset": "romgon-q"}, {"opponent": "nobody"}):
        with pytest.raises(ClassRefusedError):
            proposal_of(replace(PLAN, **wrong_fields))


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_proposal_in_short_sentences(game: str) -> None:
    for side in (Side.SECOND, None):
        all_sentences = sentences(proposal_of(replace(PLAN, game=game, side=side, minutes=30)))
        assert [one for one in all_sentences if len(one.split()) > 20] == []
