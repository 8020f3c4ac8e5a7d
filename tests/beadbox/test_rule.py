"""Rules of box machines: refused fields, and the round trip through JSON."""

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import MAX_BEADS, BoxRule, FinalLoss, FinalWin
from beadbox.learners.rule import RuleError
from tests.beadbox.box_rules import box_rules


@pytest.mark.parametrize(
    ("field", "data"),
    [
        ("initial", {"initial": []}),
        ("initial", {"initial": [4, -1]}),
        ("initial", {"initial": [0, 0]}),
        ("initial", {"initial": [MAX_BEADS + 1]}),
        ("initial", {"initial": [1], "floor": 2}),
        ("initial", {"initial": [9], "cap": 8}),
        ("initial", {"initial": 4}),
        ("initial", {"initial": "4321"}),
        ("initial", {"initial": {"4": 1}}),
        ("initial", {"initial": None}),
        ("initial", {"initial": [4, 3.0]}),
        ("initial", {"initial": [True]}),
        ("initial", {"initial": ["4"]}),
        ("initial", {"initial": [1] * 65}),
        ("initial_by", {"initial_by": "colour"}),
        ("initial_by", {"initial_by": None}),
        ("win", {"win": "3"}),
        ("win", {"win": 2.5}),
        ("win", {"win": None}),
        ("win", {"win": MAX_BEADS + 1}),
        ("draw", {"draw": True}),
        ("draw", {"draw": -MAX_BEADS - 1}),
        ("loss", {"loss": []}),
        ("loss", {"loss": float("nan")}),
        ("final_win", {"final_win": "all"}),
        ("final_loss", {"final_loss": []}),
        ("cap", {"final_win": "sole"}),
        ("only_last", {"only_last": 1}),
        ("only_last", {"only_last": "yes"}),
        ("floor", {"floor": -1}),
        ("floor", {"floor": None}),
        ("floor", {"floor": 5, "cap": 4}),
        ("floor", {"floor": MAX_BEADS + 1}),
        ("cap", {"cap": 0}),
        ("cap", {"cap": -1}),
        ("cap", {"cap": "none"}),
        ("cap", {"cap": MAX_BEADS + 1}),
        ("when_empty", {"when_empty": "cry"}),
        ("empty_opening", {"empty_opening": 0}),
        ("punish_previous_on_resign", {"punish_previous_on_resign": None}),
        ("merge_symmetric_moves", {"merge_symmetric_moves": "true"}),
        ("merge_symmetric_moves", {"reduce_symmetry": False}),
        ("reduce_symmetry", {"reduce_symmetry": 0}),
        ("box_set", {"box_set": "some"}),
        ("open_boxes", {"open_boxes": "never"}),
        ("wins", {"wins": 3}),
        ("7", {7: 3}),
        ("rule", []),
        ("rule", None),
        ("rule", "michie-1961"),
    ],
)
def test_refusal_of_a_wrong_rule_names_the_field(field, data):
    with pytest.raises(RuleError) as refused:
        BoxRule.from_json(data)
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: ")
    assert refused.value.code == "invalid_rule"


def test_numbers_with_too_many_digits_are_refused():
    with pytest.raises(RuleError) as refused:
        BoxRule.from_json({"win": 10**30})
    assert refused.value.field == "win"


def test_a_rule_built_in_python_is_checked():
    with pytest.raises(RuleError, match="floor: The floor 3 is above the cap 2"):
        BoxRule(floor=3, cap=2)


def test_omitted_fields_have_their_defaults():
    assert BoxRule.from_json({}) == BoxRule()
    assert BoxRule.from_json({"loss": -3, "cap": None}) == replace(BoxRule(), loss=-3)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_survive_json(preset):
    assert BoxRule.from_json(json.loads(json.dumps(preset.rule.to_json()))) == preset.rule


@given(box_rules())
def test_every_rule_survives_json_with_every_field(rule):
    data = json.loads(json.dumps(rule.to_json()))
    assert list(data) == [field.name for field in fields(BoxRule)]
    decoded = BoxRule.from_json(data)
    assert decoded == rule
    assert hash(decoded) == hash(rule)


def test_removes_is_true_for_rules_that_remove_slots():
    assert not BoxRule().removes
    assert BoxRule(final_loss=FinalLoss.REMOVE).removes
    assert BoxRule(final_win=FinalWin.SOLE, cap=100).removes
