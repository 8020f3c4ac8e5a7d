"""Rules in words: whole sentences on the fields that matter, and nothing on fields without effect."""

from dataclasses import replace

import pytest
from django.test import Client

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule, FinalLoss, WhenEmpty
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.rules.outcome import Side
from learning.kinds.boxes.text import describe_rule
from learning.kinds.registry import kind_of_rule
from learning.services.machines import machine_create

HER_SENTENCES = ["One bead of each colour.", "After a loss the last bead is taken out for good."]


def rule_text(rule: BoxRule, *, has_draws: bool = True) -> dict[str, str]:
    return dict(describe_rule(rule, has_draws=has_draws))


def test_her_has_two_sentences_about_beads() -> None:
    texts = rule_text(PRESETS["gardner-her"].rule, has_draws=False)
    assert [texts["Start"], texts["Loss"]] == HER_SENTENCES
    assert set(texts) == {"Start", "Loss", "Empty box", "Boxes"}


@pytest.mark.parametrize("slug", PRESETS)
def test_fields_without_effect_are_not_described(slug: str) -> None:
    texts = rule_text(PRESETS[slug].rule)
    assert "+0" not in str(texts)
    assert "0 bead" not in str(texts).replace("20 bead", "").replace("100 bead", "")
    for text in texts.values():
        assert text.endswith(".")
        assert all(len(sentence.split()) <= 20 for sentence in text.split(". ")), text


def test_only_settings_that_can_act_are_described() -> None:
    plain_rule = BoxRule()
    assert "4 beads of each colour for its first move, 3 for the second" in rule_text(plain_rule)["Start"]
    assert rule_text(plain_rule)["Win"] == "After a win every box that it used gains 3 beads of the colour played."
    assert "Draw" not in rule_text(plain_rule, has_draws=False)
    assert "Empty box" not in rule_text(replace(plain_rule, floor=1)), "with a floor no box is ever empty"
    assert "never has fewer" in rule_text(replace(plain_rule, floor=1))["Limits"]
    assert "Limits" not in rule_text(replace(plain_rule, floor=1, loss=0)), "no bead is ever taken out"
    assert "Limits" not in rule_text(replace(plain_rule, win=0, draw=0, cap=9)), "no bead is ever put in"
    assert "first box" not in rule_text(replace(plain_rule, when_empty=WhenEmpty.UNIFORM))["Empty box"]
    removing_rule = replace(plain_rule, final_loss=FinalLoss.REMOVE)
    assert "earlier box loses one bead" in rule_text(removing_rule)["Loss"]
    assert "earlier box" not in rule_text(replace(removing_rule, only_last=True))["Loss"]
    assert "counts as the one" not in rule_text(replace(plain_rule, punish_previous_on_resign=True))["Empty box"]
    unchanging_rule = replace(plain_rule, win=0, draw=0, loss=0)
    assert rule_text(unchanging_rule)["Learning"] == "Its beads never change."


OTHER_PRESETS = [*Q_PRESETS.values(), *TABLE_PRESETS.values(), *VALUE_PRESETS.values()]


@pytest.mark.parametrize("preset", OTHER_PRESETS)
def test_other_kinds_are_described_in_whole_sentences(preset: object) -> None:
    rule = preset.rule  # type: ignore[attr-defined]
    for text in dict(kind_of_rule(rule).page.rule_sentences(rule)).values():
        assert text[0].isupper(), text
        assert text.endswith("."), text
        assert all(len(sentence.split()) <= 20 for sentence in text.split(". ")), text


@pytest.mark.parametrize("preset", OTHER_PRESETS)
def test_other_kinds_leave_out_disabled_fields(preset: object) -> None:
    rule = preset.rule  # type: ignore[attr-defined]
    page = kind_of_rule(rule).page
    names = ("epsilon", "epsilon_floor", "exploring", "exploring_floor", "random_share", "soft_share")
    zeros = dict.fromkeys(names, 0)
    zeros_of_rule = {name: value for name, value in zeros.items() if hasattr(rule, name)}
    texts = dict(page.rule_sentences(replace(rule, **zeros_of_rule)))
    assert not {"Explores", "Tries anything"} & set(texts)
    assert texts.get("Checks", "It takes").startswith("It ")


@pytest.mark.django_db
def test_the_page_of_her_has_the_description(client: Client) -> None:
    her = machine_create(game="hexapawn", side=Side.SECOND, name="HER", preset="gardner-her")
    page = client.get(f"/machines/{her.pk}").content.decode()
    assert all(sentence in page for sentence in HER_SENTENCES)
    assert "After a draw" not in page
